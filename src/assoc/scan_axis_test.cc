// Protects: the three axes of people and the rule that chooses between them.

#include "assoc/scan_axis.h"

#include <gtest/gtest.h>

namespace tallele {
namespace {

TEST(ScanAxis, WholeFileWhenMostOfItIsUsed) {
  const std::vector<uint32_t> base = {0, 2, 3, 4};
  const ScanAxis axis = ChooseScanAxis(5, base, {true, false, true, true});
  EXPECT_FALSE(axis.selection.file_positions.has_value());
  EXPECT_EQ(axis.num_block_people(), 5u);
  EXPECT_EQ(axis.num_used(), 3u);
  EXPECT_EQ(axis.unused, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(axis.block_of_base, (std::vector<uint32_t>{0, ScanAxis::kNobody, 3, 4}));
  EXPECT_EQ(axis.base_of_block[4], 3u);
}

TEST(ScanAxis, UsedPeopleAloneWhenTheyAreFew) {
  const std::vector<uint32_t> base = {1, 4, 9};
  const ScanAxis axis = ChooseScanAxis(10, base, {true, false, true});
  ASSERT_TRUE(axis.selection.file_positions.has_value());
  EXPECT_EQ(*axis.selection.file_positions, (std::vector<uint32_t>{1, 9}));
  EXPECT_TRUE(axis.unused.empty());
  EXPECT_EQ(axis.base_of_block, (std::vector<uint32_t>{0, 2}));
}

}  // namespace
}  // namespace tallele

// Protects: every selected variant is in exactly one block, blocks stay inside chromosomes and
// parts, and every part ends once, whatever is selected.

#include "assoc/scan_blocks.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tallele {
namespace {

VariantIndex MakeIndex(std::initializer_list<std::pair<const char*, size_t>> runs) {
  VariantIndex index;
  for (const auto& [label, count] : runs) {
    for (size_t i = 0; i < count; ++i) {
      VariantRecord record;
      record.chromosome = label;
      record.id = "v";
      index.Add(record);
    }
  }
  return index;
}

void CheckWalk(const VariantIndex& index, const std::vector<VariantRange>& parts,
               const std::vector<bool>& selected, size_t width) {
  ScanBlockWalker walker(index, parts, selected, width);
  std::vector<int> visits(index.size(), 0);
  std::vector<int> ends(parts.size(), 0);
  size_t last = 0;
  ScanBlock block;
  while (walker.Next(&block)) {
    EXPECT_LE(block.range.count, width);
    const VariantRange part = parts[block.part];
    EXPECT_EQ(ends[block.part], 0) << "a block after the end of its part";
    for (size_t v = block.range.first; v < block.range.first + block.range.count; ++v) {
      ++visits[v];
      EXPECT_GE(v, last);
      last = v;
      EXPECT_TRUE(v >= part.first && v < part.first + part.count);
      const VariantRange run = index.runs()[block.run].range;
      EXPECT_TRUE(v >= run.first && v < run.first + run.count);
    }
    if (block.ends_part) ++ends[block.part];
  }
  for (size_t v = 0; v < visits.size(); ++v) {
    EXPECT_EQ(visits[v], selected.empty() || selected[v] ? 1 : 0) << v;
  }
  for (const int count : ends) EXPECT_EQ(count, 1);
}

TEST(ScanBlockWalker, CoversWhatIsSelected) {
  const VariantIndex index = MakeIndex({{"1", 10}, {"2", 1}, {"X", 7}});
  const std::vector<VariantRange> parts = {{0, 4}, {4, 4}, {8, 2}, {10, 1}, {11, 4}, {15, 3}};
  std::vector<bool> scattered(18, false);
  for (const size_t v : {0, 1, 5, 7, 12, 13, 17}) scattered[v] = true;
  for (const size_t width : {size_t{1}, size_t{3}, size_t{100}}) {
    CheckWalk(index, parts, {}, width);
    CheckWalk(index, parts, scattered, width);
    CheckWalk(index, parts, std::vector<bool>(18, false), width);
  }
}

TEST(ScanBlockWalker, AFileWithoutVariants) {
  const VariantIndex index;
  const std::vector<VariantRange> parts;
  const std::vector<bool> selected;
  ScanBlockWalker walker(index, parts, selected, 5);
  ScanBlock block;
  EXPECT_FALSE(walker.Next(&block));
}

}  // namespace
}  // namespace tallele

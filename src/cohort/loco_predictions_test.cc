#include "cohort/loco_predictions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/fixtures.h"

namespace tallele {
namespace {

class Loco : public testing::Test {
 protected:
  Result<std::unique_ptr<LocoPredictions>> Open(const std::string& list) {
    return LocoPredictions::Open(dir_.Write("pred.list", list), traits_, keys_, 22, events_);
  }
  std::string OpenMessage(const std::string& list) {
    auto opened = Open(list);
    return opened.ok() ? "" : opened.error().Message();
  }

  TempDir dir_;
  std::vector<std::string> traits_ = {"T", "U"};
  std::vector<std::string> keys_ = {"F_A", "F_A_B", "F_C", "D_D"};
  NullEventSink events_;
};

// Ids are whole FID_IID tokens (an underscore inside is no separator), paths are relative to the
// list, NA and absent people are told apart, X is 23.
TEST_F(Loco, ReadsTheRowThatIsAskedFor) {
  dir_.Write("t one.loco", "FID_IID F_C F_A_B other D \n1 0.5 -1e-3 7 2 \nchrX NA 4 7 1\n");
  auto loco = Open("T t one.loco\n");
  ASSERT_TRUE(loco.ok()) << loco.error().Message();
  EXPECT_TRUE((*loco)->HasTrait(0));
  EXPECT_FALSE((*loco)->HasTrait(1));
  EXPECT_TRUE((*loco)->HasChromosome(0, 23));
  EXPECT_FALSE((*loco)->HasChromosome(0, 2));
  const auto one = (*loco)->Load(0, 1);
  ASSERT_TRUE(one.ok());
  EXPECT_TRUE(std::isnan(one->values[0]));
  EXPECT_EQ(one->values[1], -1e-3);
  EXPECT_EQ(one->values[2], 0.5);
  EXPECT_EQ(one->values[3], 2);
  EXPECT_EQ(one->absent_people, 1u);
  const auto x = (*loco)->Load(0, 23);
  ASSERT_TRUE(x.ok());
  EXPECT_TRUE(std::isnan(x->values[2]));
  EXPECT_EQ(x->missing_values, 1u);
}

TEST_F(Loco, WrongRowsAreNamedWhenUsed) {
  dir_.Write("t.loco", "FID_IID F_A F_C\n1 1 2\n2 1\n3 1 x\n4 inf 1\n");
  auto loco = Open("T t.loco\n");
  ASSERT_TRUE(loco.ok());
  EXPECT_TRUE((*loco)->Load(0, 1).ok());
  for (const int bad : {2, 3, 4}) {
    const auto row = (*loco)->Load(0, bad);
    ASSERT_FALSE(row.ok());
    EXPECT_NE(row.error().Message().find("line " + std::to_string(bad + 1)), std::string::npos);
  }
}

TEST_F(Loco, AChangedFileIsNoticed) {
  dir_.Write("t.loco", "FID_IID F_A F_C\n1 1 2\n");
  auto loco = Open("T t.loco\n");
  ASSERT_TRUE(loco.ok());
  dir_.Write("t.loco", "FID_IID F_A F_C\n1 1 3\n");
  const auto row = (*loco)->Load(0, 1);
  ASSERT_FALSE(row.ok());
  EXPECT_NE(row.error().Message().find("changed"), std::string::npos);
}

TEST_F(Loco, ListsAndHeadersAreChecked) {
  dir_.Write("t.loco", "FID_IID F_A\n1 1\n01 2\n");
  EXPECT_NE(OpenMessage("T t.loco\n").find("line 2"), std::string::npos);
  dir_.Write("t.loco", "FID_IID F_A F_A\n1 1 1\n");
  EXPECT_NE(OpenMessage("T t.loco\n").find("twice"), std::string::npos);
  dir_.Write("t.loco", "IID F_A\n1 1\n");
  EXPECT_NE(OpenMessage("T t.loco\n").find("FID_IID"), std::string::npos);
  EXPECT_NE(OpenMessage("T a\nT b\n").find("line 1"), std::string::npos);
  EXPECT_NE(OpenMessage("T\n").find("no path"), std::string::npos);
  EXPECT_NE(OpenMessage("\n").find("empty"), std::string::npos);
  EXPECT_NE(OpenMessage("T absent.loco\n").find("absent.loco"), std::string::npos);
}

}  // namespace
}  // namespace tallele

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

// gzip of "FID_IID F_A F_C\n1 1 2\n2 3 4\n", made by Python's gzip module; read backwards and
// again.
TEST_F(Loco, CompressedFilesAreReadInAnyOrder) {
  dir_.Write("t.loco.gz",
             std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x73\xf3\x74\x89\xf7\xf4"
                         "\x74\x51\x70\x8b\x77\x04\x62\x67\x2e\x43\x05\x43\x05\x23\x2e\x23"
                         "\x05\x63\x05\x13\x2e\x00\xe7\x6f\xfe\xf2\x1c\x00\x00\x00",
                         46));
  auto loco = Open("T t.loco.gz\n");
  ASSERT_TRUE(loco.ok()) << loco.error().Message();
  for (const int code : {2, 1, 2}) {
    const auto row = (*loco)->Load(0, code);
    ASSERT_TRUE(row.ok()) << row.error().Message();
    EXPECT_EQ(row->values[0], code == 1 ? 1 : 3);
    EXPECT_EQ(row->values[2], code == 1 ? 2 : 4);
  }
}

// CRLF, blank lines, leading zeros, PAR labels, contigs that nobody asks for; absolute paths.
TEST_F(Loco, TolerantFormsAreRead) {
  const std::string path = dir_.Write(
      "sub/t.loco", "FID_IID\tF_A  F_C \r\n\r\n01 1 2\r\nMT x\r\nchr2\t3\tNA\r\nX 5 6\r\n");
  auto loco = Open("\n  T   " + path + " \r\n\nU sub/t.loco\n");
  ASSERT_TRUE(loco.ok()) << loco.error().Message();
  for (const size_t trait : {0, 1}) {
    EXPECT_EQ((*loco)->Load(trait, 1)->values[2], 2);
    EXPECT_EQ((*loco)->Load(trait, 2)->missing_values, 1u);
    EXPECT_EQ((*loco)->Load(trait, 23)->values[0], 5);
  }
}

// A fingerprint tells content apart, not names.
TEST_F(Loco, FingerprintsFollowTheContent) {
  dir_.Write("t.loco", "FID_IID F_A F_C\n1 1 2\n");
  dir_.Write("u.loco", "FID_IID F_A F_C\n1 1 2\n");
  auto same = Open("T t.loco\nU u.loco\n");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ((*same)->fingerprint(0), (*same)->fingerprint(1));
  EXPECT_EQ((*same)->fingerprint(0).size(), 64u);
  for (const char* other :
       {"FID_IID F_A F_C\n1 1 3\n", "FID_IID F_C F_A\n1 1 2\n", "FID_IID F_A F_C\n2 1 2\n"}) {
    dir_.Write("u.loco", other);
    auto changed = Open("T t.loco\nU u.loco\n");
    ASSERT_TRUE(changed.ok());
    EXPECT_NE((*changed)->fingerprint(0), (*changed)->fingerprint(1)) << other;
  }
}

// A file that shrank, or whose header alone changed, is noticed too.
TEST_F(Loco, EveryKindOfChangeIsNoticed) {
  for (const char* later : {"FID_IID F_A F_C\n", "FID_IID F_C F_A\n1 1 2\n"}) {
    dir_.Write("t.loco", "FID_IID F_A F_C\n1 1 2\n");
    auto loco = Open("T t.loco\n");
    ASSERT_TRUE(loco.ok());
    dir_.Write("t.loco", later);
    const auto row = (*loco)->Load(0, 1);
    ASSERT_FALSE(row.ok()) << later;
    EXPECT_NE(row.error().Message().find("changed"), std::string::npos);
  }
}

// Step 1's own file: values of the first two columns and the last as they stand in it, for tables
// keyed by FID_IID and for embedded names.
TEST(LocoFixture, GoldenPredictionsAreRead) {
  const auto fixtures = SharedFixtures();
  if (!fixtures) GTEST_SKIP() << "needs the shared fixtures";
  const std::vector<std::string> traits = {"QT1"};
  const std::string list = (*fixtures / "golden/regenie/s1_QT1_pred.list").string();
  NullEventSink events;
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"U9_U9", "F100_F100_2", "F100_F100_1"},
        std::vector<std::string>{"U9_U9_U9_U9", "F100_F100_2_F100_F100_2",
                                 "F100_F100_1_F100_F100_1"}}) {
    auto loco = LocoPredictions::Open(list, traits, keys, 22, events);
    ASSERT_TRUE(loco.ok()) << loco.error().Message();
    const auto one = (*loco)->Load(0, 1);
    ASSERT_TRUE(one.ok()) << one.error().Message();
    EXPECT_EQ(one->values, (std::vector<double>{0.127717, 0.110227, 0.0228337}));
    EXPECT_EQ(one->absent_people, 0u);
    EXPECT_EQ((*loco)->Load(0, 10)->values[1], -0.0188307);
    for (int code = 1; code <= 23; ++code) EXPECT_TRUE((*loco)->HasChromosome(0, code));
  }
}

}  // namespace
}  // namespace tallele

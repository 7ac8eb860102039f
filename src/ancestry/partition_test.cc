#include "ancestry/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ancestry/model/training_dataset.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

class TinyPartition : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = SharedFixtures();
    if (!shared) GTEST_SKIP() << "the shared fixtures are absent";
    folder_ = (*shared / "dietnet/tiny").string();
    auto dataset = TrainingDataset::Open(folder_ + "/dataset.hdf5");
    ASSERT_TRUE(dataset.ok()) << dataset.error().Message();
    samples_ = dataset->samples();
    labels_ = dataset->labels();
  }
  std::vector<Fold> Stored(const std::string& name) const {
    const auto folds = ReadPartition(folder_ + "/" + name, samples_);
    EXPECT_TRUE(folds.ok()) << folds.error().Message();
    return *folds;
  }

  std::string folder_;
  std::vector<std::string> samples_;
  std::vector<int64_t> labels_;
};

std::vector<Fold> Sorted(std::vector<Fold> folds) {
  for (Fold& fold : folds) {
    for (auto& list : fold) std::sort(list.begin(), list.end());
  }
  return folds;
}

// Two runs of upstream with one seed have equal membership and different order.
TEST_F(TinyPartition, BalancedMembershipIsUpstreams) {
  const auto folds =
      MakePartition({.seed = 124, .num_folds = 5, .balance_class = true}, samples_.size(), labels_);
  ASSERT_TRUE(folds.ok()) << folds.error().Message();
  EXPECT_EQ(Sorted(*folds), Sorted(Stored("partition_seed_a.npz")));
  EXPECT_EQ(Sorted(*folds), Sorted(Stored("partition_rerun.npz")));
}

TEST_F(TinyPartition, UnbalancedListsAreUpstreams) {
  const auto folds = MakePartition({.seed = 23}, samples_.size(), {});
  ASSERT_TRUE(folds.ok()) << folds.error().Message();
  EXPECT_EQ(*folds, Stored("partition_unbalanced_seed23.npz"));
}

TEST_F(TinyPartition, RoundTrip) {
  const TempDir folder;
  const auto folds = MakePartition({.seed = 23}, samples_.size(), {});
  ASSERT_TRUE(folds.ok());
  ASSERT_TRUE(WritePartition(*folds, samples_, folder.File("p.npz")).ok());
  const auto back = ReadPartition(folder.File("p.npz"), samples_);
  ASSERT_TRUE(back.ok()) << back.error().Message();
  EXPECT_EQ(*back, *folds);
}

// A partition of another dataset is refused, by row number or by name.
TEST_F(TinyPartition, ForeignPartitionIsRefused) {
  std::vector<std::string> fewer(samples_.begin(), samples_.end() - 1);
  EXPECT_FALSE(ReadPartition(folder_ + "/partition_seed_a.npz", fewer).ok());
  std::vector<std::string> others = samples_;
  std::swap(others[3], others[4]);
  EXPECT_FALSE(ReadPartition(folder_ + "/partition_seed_a.npz", others).ok());
}

// The one list that is read without a dataset is that of the whole file, and folds are counted.
TEST_F(TinyPartition, TestSetOfAFold) {
  const std::string path = folder_ + "/partition_seed_a.npz";
  const auto set = ReadFoldTestSet(path, 2);
  ASSERT_TRUE(set.ok()) << set.error().Message();
  const Fold whole = Stored("partition_seed_a.npz")[2];
  EXPECT_EQ(set->rows, whole[2]);
  EXPECT_EQ(set->dataset_people, 178);
  ASSERT_EQ(set->samples.size(), set->rows.size());
  for (size_t i = 0; i < set->rows.size(); ++i) {
    EXPECT_EQ(set->samples[i], samples_[static_cast<size_t>(set->rows[i])]);
  }
  for (const int64_t fold : {-1, 5}) {
    const auto none = ReadFoldTestSet(path, fold);
    ASSERT_FALSE(none.ok());
    EXPECT_NE(none.error().Message().find("expected 0 to 4"), std::string::npos)
        << none.error().Message();
  }
}

TEST(Partition, ImpossibleRequestsAreRefused) {
  EXPECT_FALSE(MakePartition({.num_folds = 1}, 10, {}).ok());
  EXPECT_FALSE(MakePartition({.num_folds = 11}, 10, {}).ok());
  EXPECT_FALSE(MakePartition({.balance_class = true}, 10, {}).ok());
}

}  // namespace
}  // namespace tallele

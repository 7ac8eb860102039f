// The groups of the missing-SNP study: what the rule promises, whatever the random order.
#include "ancestry/model/missing_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tallele {
namespace {

// How often each SNP is left over some repeats.
std::vector<int> TimesLeft(const SnpGroups& groups, size_t num_snps, int64_t first, int64_t count) {
  std::vector<int> times(num_snps, 0);
  for (int64_t repeat = first; repeat < first + count; ++repeat) {
    const std::vector<uint32_t> left = groups.Left(repeat);
    EXPECT_TRUE(std::is_sorted(left.begin(), left.end()));
    EXPECT_EQ(std::set<uint32_t>(left.begin(), left.end()).size(), left.size());
    for (const uint32_t snp : left) ++times[snp];
  }
  return times;
}

TEST(SnpGroups, UpToOneHalfEverySnpIsRemovedOnceARound) {
  const SnpGroups groups(200, 0.1, 5);
  ASSERT_EQ(groups.groups_a_round(), 10u);
  EXPECT_EQ(groups.Left(3).size(), 180u);
  EXPECT_EQ(TimesLeft(groups, 200, 0, 10), std::vector<int>(200, 9));
  EXPECT_EQ(TimesLeft(groups, 200, 10, 10), std::vector<int>(200, 9));
  EXPECT_NE(groups.Left(0), groups.Left(10));  // a new order
  EXPECT_EQ(SnpGroups(200, 0.5, 5).groups_a_round(), 2u);
  EXPECT_EQ(SnpGroups(200, 0.5, 5).Left(0).size(), 100u);
}

TEST(SnpGroups, AboveOneHalfEverySnpIsKeptOnceARound) {
  const SnpGroups groups(5000, 0.95, 5);  // 1 - 0.95 is a little more than 0.05
  ASSERT_EQ(groups.groups_a_round(), 20u);
  EXPECT_EQ(groups.Left(0).size(), 250u);
  EXPECT_EQ(TimesLeft(groups, 5000, 0, 20), std::vector<int>(5000, 1));
  EXPECT_EQ(SnpGroups(5000, 0.99, 5).groups_a_round(), 100u);
}

TEST(SnpGroups, ShareThatDoesNotDivideLeavesSomeSnpsOut) {
  const SnpGroups groups(100, 0.7, 5);
  ASSERT_EQ(groups.groups_a_round(), 3u);
  const std::vector<int> times = TimesLeft(groups, 100, 0, 3);
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), 90);
  EXPECT_EQ(std::count(times.begin(), times.end(), 0), 10);
}

TEST(SnpGroups, SeedDecides) {
  EXPECT_EQ(SnpGroups(100, 0.9, 1).Left(4), SnpGroups(100, 0.9, 1).Left(4));
  EXPECT_NE(SnpGroups(100, 0.9, 1).Left(4), SnpGroups(100, 0.9, 2).Left(4));
  EXPECT_EQ(SnpGroups(3, 0.99, 1).Left(0).size(), 1u);  // never nothing
}

}  // namespace
}  // namespace tallele

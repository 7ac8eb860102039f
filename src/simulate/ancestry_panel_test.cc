#include "simulate/ancestry_panel.h"

#include <gtest/gtest.h>

#include "tests/support/fixtures.h"

namespace tallele {
namespace {

AncestryPanelRequest Small(const TempDir& folder, const char* name) {
  AncestryPanelRequest request;
  request.out = folder.File(name);
  request.num_snps = 300;
  request.size_factor = 0.1;
  return request;
}

TEST(AncestryPanel, BytesDoNotDependOnThreads) {
  const TempDir folder;
  AncestryPanelRequest one = Small(folder, "one"), many = Small(folder, "many");
  one.num_threads = 1;
  many.num_threads = 4;
  NullEventSink events;
  ASSERT_TRUE(SimulateAncestryPanel(one, events, {}).ok());
  ASSERT_TRUE(SimulateAncestryPanel(many, events, {}).ok());
  for (const char* end : {".bed", ".bim", ".fam", "_labels.tsv"}) {
    EXPECT_EQ(ReadWholeFile(one.out + end), ReadWholeFile(many.out + end)) << end;
  }
}

// The published panel has 2,322 people in 24 populations.
TEST(AncestryPanel, SizesArePublishedOnes) {
  const TempDir folder;
  AncestryPanelRequest request = Small(folder, "p");
  request.size_factor = 1;
  request.num_snps = 30;
  NullEventSink events;
  const auto summary = SimulateAncestryPanel(request, events, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->num_people, 2322u);
  EXPECT_EQ(summary->num_populations, 24u);
}

TEST(AncestryPanel, OtherPeopleOfTheSamePopulations) {
  const TempDir folder;
  AncestryPanelRequest one = Small(folder, "one"), other = Small(folder, "other");
  other.people_seed = 2;
  NullEventSink events;
  ASSERT_TRUE(SimulateAncestryPanel(one, events, {}).ok());
  ASSERT_TRUE(SimulateAncestryPanel(other, events, {}).ok());
  EXPECT_EQ(ReadWholeFile(one.out + ".bim"), ReadWholeFile(other.out + ".bim"));
  EXPECT_NE(ReadWholeFile(one.out + ".bed"), ReadWholeFile(other.out + ".bed"));
}

TEST(AncestryPanel, ImpossibleRequestsAreRefused) {
  AncestryPanelRequest request;
  request.fst = 0;
  NullEventSink events;
  EXPECT_FALSE(SimulateAncestryPanel(request, events, {}).ok());
}

}  // namespace
}  // namespace tallele

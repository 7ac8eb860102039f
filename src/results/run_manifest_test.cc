// Protects: the manifest says exactly what was written, differences are named, and nothing that was
// edited, cut or written by another version is taken for a manifest.
#include "results/run_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::HasSubstr;

RunManifest Example() {
  RunManifest m;
  m.trait = "BMI";
  m.plan = {{"min_mac", "5"}, {"test", "additive"}};
  m.grid = {{0, 10}, {10, 10}, {20, 5}};
  m.inputs = {{"phenotypes", "/data/p.tsv", {100, 7, -5, 12345678901234567}, "ab", "whole"}};
  m.status = RunStatus::kInterrupted;
  m.signal = 15;
  m.problems = {"no predictions for chromosome 5"};
  m.Record({"part_000000010_000000019.parquet",
            {10, 10},
            9,
            1234,
            "cd",
            {1, 2, 3, 4, 5, {6, 7, 8, 9, 10, 11, 12, 13}}});
  m.Record({"part_000000000_000000009.parquet", {0, 10}, 10, 1235, "ef", {}});
  return m;
}

TEST(RunManifest, TextReadsBackTheSame) {
  const auto text = ManifestText(Example());
  ASSERT_TRUE(text.ok());
  const auto back = ParseManifest(*text, "m.json");
  ASSERT_TRUE(back.ok()) << back.error().Message();
  EXPECT_EQ(back->plan, Example().plan);
  EXPECT_EQ(back->inputs, Example().inputs);
  ASSERT_EQ(back->parts.size(), 2u);
  EXPECT_EQ(back->parts[0].range.first, 0u);
  EXPECT_EQ(back->parts[1].counts, (PartCounts{1, 2, 3, 4, 5, {6, 7, 8, 9, 10, 11, 12, 13}}));
  EXPECT_EQ(back->signal, 15);
  EXPECT_FALSE(back->IsComplete());
  EXPECT_EQ(*ManifestText(*back), *text);
}

// The hash is that of the documented bytes, and no shift of text between fields keeps it.
TEST(RunManifest, A40PlanHash) {
  const std::vector<PlanField> fields = {{"min_mac", "5"}, {"test", "additive"}};
  EXPECT_EQ(PlanHash(fields), Sha256Hex("7:min_mac1:54:test8:additive"));
  const std::vector<PlanField> shifted = {{"min_mac5", ""}, {"test", "additive"}};
  EXPECT_NE(PlanHash(fields), PlanHash(shifted));
}

TEST(RunManifest, A43TheFirstDifferenceIsNamed) {
  const std::vector<PlanField> a = {{"min_mac", "5"}, {"test", "additive"}};
  EXPECT_FALSE(FirstDifference(a, a));
  const auto changed = FirstDifference(a, std::vector<PlanField>{{"min_mac", "6"}, {"test", "x"}});
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->field, "min_mac");
  EXPECT_EQ(changed->recorded, "5");
  EXPECT_EQ(changed->requested, "6");
  EXPECT_EQ(FirstDifference(a, std::vector<PlanField>{{"min_mac", "5"}})->field, "test");
  EXPECT_EQ(FirstDifference(std::vector<PlanField>{{"min_mac", "5"}}, a)->recorded, "(absent)");
  EXPECT_TRUE(FirstDifference(a, std::vector<PlanField>{a[1], a[0]}));
}

// Every byte of a manifest matters: none can be changed or cut away unnoticed.
TEST(RunManifest, EveryFlippedOrMissingByteIsNoticed) {
  const std::string text = *ManifestText(Example());
  for (size_t at = 0; at < text.size(); ++at) {
    // Blanks between values carry nothing, so changing one into another is no damage.
    if (text[at] == ' ' || text[at] == '\n') continue;
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_FALSE(ParseManifest(damaged, "m.json").ok()) << at << " " << damaged.substr(at, 20);
    if (at + 2 >= text.size()) continue;
    EXPECT_FALSE(ParseManifest(text.substr(0, at), "m.json").ok()) << at;
  }
}

TEST(RunManifest, NamesThatAreNotUtf8AndHostileNamesSurvive) {
  RunManifest m = Example();
  m.trait = "a\"b\\\xff\n";
  m.plan[0].value = "\xc3\xa9 and \xc3";
  const auto back = ParseManifest(*ManifestText(m), "m.json");
  ASSERT_TRUE(back.ok()) << back.error().Message();
  EXPECT_EQ(back->trait, "a\"b\\\\xff\n");
  EXPECT_EQ(PrintableText("\xc3\xa9"), "\xc3\xa9");
}

TEST(RunManifest, ContradictionsAreRefused) {
  RunManifest m = Example();
  m.status = RunStatus::kCompleted;
  EXPECT_THAT(ParseManifest(*ManifestText(m), "m").error().Message(), HasSubstr("part is missing"));
  m = Example();
  m.parts[0].range.count = 3;
  EXPECT_THAT(ParseManifest(*ManifestText(m), "m").error().Message(), HasSubstr("not in the grid"));
  m = Example();
  m.parts[0].file = "../part_000000000_000000009.parquet";
  EXPECT_THAT(ParseManifest(*ManifestText(m), "m").error().Message(), HasSubstr("outside"));
}

TEST(RunManifest, WriteReplacesAtomically) {
  const TempDir folder;
  const std::string path = folder.File(kManifestName);
  RunManifest m = Example();
  ASSERT_TRUE(WriteManifest(m, path).ok());
  m.Forget({10, 10});
  ASSERT_TRUE(WriteManifest(m, path).ok());
  EXPECT_EQ(ReadManifest(path)->parts.size(), 1u);
}

}  // namespace
}  // namespace tallele

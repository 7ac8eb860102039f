#include "cohort/variant_selection.h"

#include <gtest/gtest.h>

#include "tests/support/fixtures.h"

namespace tallele {
namespace {

TEST(ChromosomeCode, NamesOfOneChromosomeAreOne) {
  for (const char* label : {"X", "chrX", "CHRx", "23", "XY", "PAR1", "Y"}) {
    EXPECT_EQ(ChromosomeCode(label, 22), 23) << label;
  }
  EXPECT_EQ(ChromosomeCode("01", 22), 1);
  EXPECT_EQ(ChromosomeCode("chr22", 22), 22);
  EXPECT_EQ(ChromosomeCode("X", 38), 39);
  for (const char* label : {"MT", "0", "24", "", "chr", "1a", "GL000192"}) {
    EXPECT_FALSE(ChromosomeCode(label, 22)) << label;
  }
}

TEST(Regions, AreParsedOrRefused) {
  EXPECT_EQ(ParseParRegion("hg19")->first, 2699520u);
  EXPECT_EQ(ParseParRegion("5, 9")->last, 9u);
  EXPECT_FALSE(ParseParRegion("hg99").ok());
  EXPECT_FALSE(ParseParRegion("9,5").ok());
  const auto window = ParseVariantWindow("chr3:10-20", 22);
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(window->chromosome_code, 3);
  EXPECT_EQ(window->last, 20u);
  for (const char* text : {"3", "3:10", "3:20-10", "MT:1-2", "3:a-b", "3:-5-7"}) {
    EXPECT_FALSE(ParseVariantWindow(text, 22).ok()) << text;
  }
}

VariantIndex SmallIndex() {
  VariantIndex index;
  const auto add = [&](const char* chromosome, uint32_t position, const char* id) {
    VariantRecord record;
    record.chromosome = chromosome;
    record.position = position;
    record.id = id;
    record.first_allele = "A";
    record.second_allele = "CCCT";
    index.Add(record);
  };
  add("1", 10, "a"), add("1", 20, "b"), add("1", 30, "b"), add("chrX", 5, "x"), add("MT", 1, "m");
  return index;
}

TEST(VariantIndex, GivesBackWhatWasAdded) {
  const VariantIndex index = SmallIndex();
  ASSERT_EQ(index.size(), 5u);
  EXPECT_EQ(index[0].id, "a");
  EXPECT_EQ(index[3].chromosome, "chrX");
  EXPECT_EQ(index[4].second_allele, "CCCT");
  ASSERT_EQ(index.runs().size(), 3u);
  EXPECT_EQ(index.runs()[1].range.first, 3u);
}

TEST(SelectVariants, CountsEachVariantOnce) {
  TempDir dir;
  VariantSelectionRequest request;
  const VariantIndex index = SmallIndex();
  auto all = SelectVariants(request, index);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->num_selected, 4u);
  EXPECT_EQ(all->unknown_chromosome, 1u);
  request.extract_files = {dir.Write("e", "b and more\nzzz\n")};
  auto listed = SelectVariants(request, index);
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->selected, (std::vector<bool>{false, true, true, false, false}));
  EXPECT_EQ(listed->listed_ids_not_found, 1u);
  request.extract_files.clear();
  request.exclude_files = {dir.Write("x", "b\n")};
  request.chromosomes = {"1"};
  auto rest = SelectVariants(request, index);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->selected, (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(rest->other_chromosome, 1u);
}

// X, chrX and 23 ask for the same variants; what the file does not have is an error, not an empty
// result.
TEST(SelectVariants, ChromosomesAreAskedForByAnyOfTheirNames) {
  const VariantIndex index = SmallIndex();
  VariantSelectionRequest request;
  for (const char* label : {"X", "chrX", "23"}) {
    request.chromosomes = {label};
    auto selection = SelectVariants(request, index);
    ASSERT_TRUE(selection.ok()) << label;
    EXPECT_EQ(selection->selected, (std::vector<bool>{false, false, false, true, false})) << label;
  }
  for (const char* label : {"7", "MT", "nonsense"}) {
    request.chromosomes = {"1", label};
    auto selection = SelectVariants(request, index);
    ASSERT_FALSE(selection.ok()) << label;
    const std::string message = selection.error().Message();
    EXPECT_NE(message.find(label), std::string::npos) << message;
    EXPECT_NE(message.find("one of 1, chrX, MT"), std::string::npos) << message;
  }
}

TEST(SelectVariants, AWindowIsInclusiveAndOfAChromosomeThatIsThere) {
  const VariantIndex index = SmallIndex();
  VariantSelectionRequest request;
  request.window = VariantWindow{1, 20, 30};
  auto inside = SelectVariants(request, index);
  ASSERT_TRUE(inside.ok());
  EXPECT_EQ(inside->selected, (std::vector<bool>{false, true, true, false, false}));
  EXPECT_EQ(inside->outside_window, 2u);
  request.window = VariantWindow{7, 1, 1000};
  auto absent = SelectVariants(request, index);
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().Message().find("--range"), std::string::npos);
}

}  // namespace
}  // namespace tallele

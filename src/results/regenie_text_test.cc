#include "results/regenie_text.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "results/parse_regenie_text.h"
#include "results/text_file.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

std::string Print(const ResultSchema& schema, const VariantIndex& variants,
                  const ResultTable& table) {
  RegenieText printer(schema, variants);
  std::string text;
  printer.AppendHeader(text);
  for (const ResultRow& row : table.rows) printer.AppendRow(row, nullptr, text);
  return text;
}

std::string Gunzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  for (int got = 0; (got = gzread(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  gzclose(file);
  return text;
}

// A pipeline that reads REGENIE's files must find the same bytes: layout, digits, NA.
TEST(RegenieText, PrintsReferenceFilesByteForByte) {
  const auto fixtures = SharedFixtures();
  if (!fixtures) GTEST_SKIP() << "no shared fixtures: REGENIE's own files are not compared";
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(*fixtures / "golden/regenie")) {
    const std::string name = entry.path().filename().string();
    const bool plain = name.rfind("qt_", 0) == 0 || name.rfind("bed_qt_", 0) == 0 ||
                       name.rfind("bt_score_", 0) == 0 || name.rfind("bt_spa_", 0) == 0 ||
                       name.rfind("bt_firth_", 0) == 0;
    if (!plain || entry.path().extension() != ".regenie") continue;
    const std::string text = ReadWholeFile(entry.path());
    const ParsedRegenieText parsed = ParseRegenieText(text);
    EXPECT_GT(parsed.table.rows.size(), 1000u) << name;
    EXPECT_TRUE(Print(parsed.schema, parsed.variants, parsed.table) == text) << name;
    ++files;
  }
  EXPECT_GE(files, 10u);
}

class RegenieTextRow : public testing::Test {
 protected:
  RegenieTextRow() {
    variants_.Add({"chrX", 1000, "v0", "A", "C", 2});
    row_.n = 599;
    row_.a1freq = 0.717028;
    row_.info = 1;
    row_.beta = -0.135209;
    row_.se = 0.0655113;
    row_.chisq = 4.25971;
    row_.log10p = 1.40864;
  }

  std::string Line() {
    std::string line;
    RegenieText(schema_, variants_).AppendRow(row_, nullptr, line);
    return line;
  }

  VariantIndex variants_;
  ResultSchema schema_;
  ResultRow row_;
};

// The row of regenie.md 4.1; the last allele is the reference unless --ref-first; X is 23.
TEST_F(RegenieTextRow, AllelesFollowTheReferenceRule) {
  EXPECT_EQ(Line(), "23 1000 v0 C A 0.717028 1 599 ADD -0.135209 0.0655113 4.25971 1.40864 NA\n");
  schema_.ref_first = true;
  schema_.has_info = false;
  schema_.test = "REC";
  EXPECT_EQ(Line(), "23 1000 v0 A C 0.717028 599 REC -0.135209 0.0655113 4.25971 1.40864 NA\n");
  schema_.num_autosomes = 29;
  EXPECT_EQ(Line().substr(0, 3), "30 ");
}

// An exactly zero statistic prints 0 (REGENIE prints NA); a negative INFO prints NA.
TEST_F(RegenieTextRow, ZeroIsANumberAndNegativeInfoIsNot) {
  row_.beta = -0.0;
  row_.chisq = 0;
  row_.log10p = 0;
  row_.info = -0.25;
  EXPECT_EQ(Line(), "23 1000 v0 C A 0.717028 NA 599 ADD 0 0.0655113 0 0 NA\n");
}

// A test that does not exist has NA; only a fit that did not converge is TEST_FAIL.
TEST_F(RegenieTextRow, FailuresPrintNa) {
  row_.beta = row_.se = row_.chisq = row_.log10p = std::numeric_limits<double>::quiet_NaN();
  row_.status = RowStatus::kNoVariance;
  EXPECT_EQ(Line(), "23 1000 v0 C A 0.717028 1 599 ADD NA NA NA NA NA\n");
  row_.beta = 0.5;
  row_.se = 0.25;
  row_.status = RowStatus::kNotConverged;
  EXPECT_EQ(Line(), "23 1000 v0 C A 0.717028 1 599 ADD 0.5 0.25 NA NA TEST_FAIL\n");
}

// Gzip output reads back as the text, over several members, and its bytes depend on the text
// alone, not on how it was handed over.
TEST(TextFile, GzipHoldsTheTextAndIsDeterministic) {
  const TempDir folder;
  std::string text;
  for (int i = 0; text.size() < 2'500'000; ++i) text += std::to_string(i * 7919) + " line\n";
  const std::string whole = folder.File("whole.gz");
  const std::string pieces = folder.File("pieces.gz");
  auto first = std::move(TextFile::Create(whole, true)).value();
  ASSERT_TRUE(first->Append(text).ok());
  ASSERT_TRUE(first->Commit().ok());
  auto second = std::move(TextFile::Create(pieces, true)).value();
  for (size_t at = 0; at < text.size(); at += 70'001) {
    ASSERT_TRUE(second->Append(std::string_view(text).substr(at, 70'001)).ok());
  }
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_TRUE(Gunzip(whole) == text);
  EXPECT_TRUE(ReadWholeFile(whole) == ReadWholeFile(pieces));
}

}  // namespace
}  // namespace tallele

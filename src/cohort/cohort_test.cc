#include "cohort/cohort.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cohort/rank_transform.h"
#include "cohort/sample_file.h"
#include "kernels/normal_tail.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

class CohortFiles : public testing::Test {
 protected:
  CohortFiles() {
    for (int i = 1; i <= 6; ++i) {
      samples_.push_back({"F", "P" + std::to_string(i), i % 2 ? Sex::kMale : Sex::kFemale});
    }
  }
  std::string Message(const std::string& pheno, const std::string& covar = "") {
    request_.pheno_file = dir_.Write("pheno", pheno);
    request_.covar_file = covar.empty() ? "" : dir_.Write("covar", covar);
    auto cohort = LoadCohort(request_, samples_, events_);
    return cohort.ok() ? "" : cohort.error().Message();
  }
  Cohort Load(const std::string& pheno, const std::string& covar = "") {
    request_.pheno_file = dir_.Write("pheno", pheno);
    request_.covar_file = covar.empty() ? "" : dir_.Write("covar", covar);
    auto cohort = LoadCohort(request_, samples_, events_);
    EXPECT_TRUE(cohort.ok()) << cohort.error().Message();
    return std::move(cohort).value();
  }

  TempDir dir_;
  std::vector<SampleIdentity> samples_;
  CohortRequest request_;
  NullEventSink events_;
};

constexpr char kPheno[] =
    "FID IID A B\nF P3 3 NA\nF P1 1 10\nF P2 2 .\nF P4 4 40\nX Y 9 9\nF P5 nan 50\n";

TEST_F(CohortFiles, PeopleAreAlignedToTheGenotypeFile) {
  const Cohort cohort = Load(kPheno);
  EXPECT_EQ(cohort.base, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(cohort.base_keys[2], "F_P3");
  ASSERT_EQ(cohort.traits.size(), 2u);
  EXPECT_EQ(cohort.traits[0].values[2], 3);
  EXPECT_TRUE(std::isnan(cohort.traits[0].values[4]));
  EXPECT_TRUE(std::isnan(cohort.traits[1].values[1]));
  EXPECT_EQ(cohort.traits[1].num_present, 3u);
  EXPECT_EQ(cohort.counts.not_in_pheno_file, 1u);
  EXPECT_EQ(cohort.counts.pheno_rows_not_genotyped, 1u);
}

// Runs of blanks, tabs with empty cells, CRLF, a byte order mark, #FID and blank lines.
TEST_F(CohortFiles, TolerantFormsReadTheSame) {
  const Cohort plain = Load(kPheno);
  for (const std::string& text :
       {std::string(
            "\xEF\xBB\xBF#FID   IID\tA\tB\r\nF\tP3\t3\t\r\nF\tP1\t1\t10\r\nF\tP2\t2\tNaN\r\n"
            "F\tP4\t4\t40\r\n\r\nX\tY\t9\t9\r\nF\tP5\tNA\t50\r\n"),
        std::string("FID  IID  A   B \nF P3   3 NA  \n F P1 1 10\nF P2 2 .\nF P4 4 40\nX Y 9 9\n\n"
                    "F P5 NA 50")}) {
    // The first form's header mixes blanks and tabs before the second column: one file, one rule.
    std::string fixed = text;
    const size_t at = fixed.find("#FID   IID");
    if (at != std::string::npos) fixed.replace(at, 10, "#FID\tIID");
    const Cohort other = Load(fixed);
    ASSERT_EQ(other.base, plain.base);
    for (size_t t = 0; t < 2; ++t) {
      for (size_t i = 0; i < plain.base.size(); ++i) {
        const double a = plain.traits[t].values[i], b = other.traits[t].values[i];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)));
      }
    }
  }
}

TEST_F(CohortFiles, ErrorsNameLineColumnFoundAndExpected) {
  const std::string junk = Message("FID IID A\nF P1 1\nF P2 1abc\n");
  for (const char* part : {"line 3", "column A", "1abc", "a number"}) {
    EXPECT_NE(junk.find(part), std::string::npos) << junk;
  }
  EXPECT_NE(Message("FID IID A\nF P1 inf\n").find("finite"), std::string::npos);
  EXPECT_NE(Message("FID IID A\nF P1 1\nF P1 2\n").find("line 2"), std::string::npos);
  const std::string ragged = Message("FID IID A B\nF P1 1\n");
  EXPECT_NE(ragged.find("found 3, expected 4"), std::string::npos) << ragged;
  EXPECT_NE(Message("ID X A\n").find("FID"), std::string::npos);
  EXPECT_NE(Message("FID IID A A\nF P1 1 2\n").find("twice"), std::string::npos);
  EXPECT_NE(Message("").find("empty"), std::string::npos);
  EXPECT_NE(Message("FID IID A\nQ Q 1\n").find("nobody"), std::string::npos);
  request_.pheno_columns = {"Z"};
  EXPECT_NE(Message(kPheno).find("no column Z"), std::string::npos);
}

// Junk in a covariate is an error whoever has it; a missing one drops the person for all traits.
TEST_F(CohortFiles, CovariatesDecideTheBaseSet) {
  EXPECT_NE(Message(kPheno, "FID IID C\nNOT GENOTYPED junk\n").find("junk"), std::string::npos);
  const Cohort cohort =
      Load(kPheno, "FID IID C D\nF P1 1 1\nF P2 NA 1\nF P3 2 0\nF P6 1 1\nF P4 5 2\n");
  EXPECT_EQ(cohort.base, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_EQ(cohort.counts.missing_covariate, 1u);
  EXPECT_EQ(cohort.counts.not_in_covar_file, 1u);
  EXPECT_EQ(cohort.covariates[0], (std::vector<double>{1, 2, 5}));
}

TEST_F(CohortFiles, CategoriesUseTheBaseSetsLevelsInFileOrder) {
  request_.categorical_covariates = {"C"};
  const Cohort cohort =
      Load(kPheno, "FID IID C\nF P6 gone\nF P3 red\nF P1 blue\nF P2 red\nF P4 green\nF P5 blue\n");
  EXPECT_EQ(cohort.covariate_names, (std::vector<std::string>{"C=blue", "C=green"}));
  EXPECT_EQ(cohort.covariates[0], (std::vector<double>{1, 0, 0, 0, 1}));
  request_.max_categorical_levels = 2;
  EXPECT_NE(Message(kPheno, "FID IID C\nF P3 red\nF P1 blue\nF P2 black\n").find("too many levels"),
            std::string::npos);
}

TEST_F(CohortFiles, CompleteCaseSharesTheIntersection) {
  request_.sample_mode = SampleMode::kCompleteCase;
  const Cohort cohort = Load(kPheno);
  EXPECT_EQ(cohort.base, (std::vector<uint32_t>{0, 3}));
  EXPECT_EQ(cohort.counts.incomplete_traits, 3u);
}

TEST_F(CohortFiles, MinusNineIsAValueUnlessDeclared) {
  const std::string pheno = "FID IID A\nF P1 -9\nF P2 1\nF P3 2\nF P4 3\n";
  EXPECT_EQ(Load(pheno).traits[0].num_present, 4u);
  request_.missing_codes = {"-9"};
  EXPECT_EQ(Load(pheno).traits[0].num_present, 3u);
}

TEST_F(CohortFiles, ATraitThatCannotBeAnalysedCarriesItsReason) {
  const Cohort cohort = Load("FID IID A B C D\nF P1 1 5 NA 1\nF P2 2 5 NA 0\nF P3 3 5 NA 1\n");
  EXPECT_EQ(cohort.traits[0].problem, "");
  EXPECT_NE(cohort.traits[1].problem.find("equal"), std::string::npos);
  EXPECT_NE(cohort.traits[2].problem.find("missing"), std::string::npos);
  EXPECT_NE(cohort.traits[3].problem.find("--force-qt"), std::string::npos);
}

TEST_F(CohortFiles, FiltersOnPeople) {
  request_.keep_files = {dir_.Write("keep", "F P1 more words\nF P3\nnobody here\n")};
  EXPECT_EQ(Load(kPheno).base, (std::vector<uint32_t>{0, 2}));
  request_.keep_files.clear();
  request_.remove_files = {dir_.Write("remove", "F P1\n"), dir_.Write("remove2", "F P2\n")};
  EXPECT_EQ(Load(kPheno).base, (std::vector<uint32_t>{2, 3, 4}));
  request_.remove_files.clear();
  request_.sex_filter = Sex::kFemale;
  EXPECT_EQ(Load(kPheno).base, (std::vector<uint32_t>{1, 3}));
}

// Ranks 1, 2.5, 2.5, 4 of four values; (rank - 3/8) / (4 + 1/4).
TEST(RankTransform, AveragesTiesAndSkipsMissing) {
  std::vector<double> values = {5, -1, 5, NAN, 100};
  RankInverseNormal(values);
  EXPECT_DOUBLE_EQ(values[1], NormalQuantile(0.625 / 4.25));
  EXPECT_DOUBLE_EQ(values[0], NormalQuantile(2.125 / 4.25));
  EXPECT_EQ(values[0], values[2]);
  EXPECT_DOUBLE_EQ(values[4], NormalQuantile(3.625 / 4.25));
  EXPECT_TRUE(std::isnan(values[3]));
}

TEST(OxfordSamples, ReadsSexAndRefusesWrongCounts) {
  TempDir dir;
  const std::string path =
      dir.Write("s", "ID_1 ID_2 missing sex\n0 0 0 D\nF A 0 1\nF B 0 2\nF C 0 NA\n");
  auto samples = ReadOxfordSamples(path, 3);
  ASSERT_TRUE(samples.ok()) << samples.error().Message();
  EXPECT_EQ((*samples)[1].iid, "B");
  EXPECT_EQ((*samples)[1].sex, Sex::kFemale);
  EXPECT_EQ((*samples)[2].sex, Sex::kUnknown);
  EXPECT_FALSE(ReadOxfordSamples(path, 4).ok());
  EXPECT_FALSE(ReadOxfordSamples(dir.Write("t", "ID_1 ID_2\nF A\nF B\n"), 2).ok());
  EXPECT_TRUE(ReadOxfordSamples(dir.Write("u", "ID_1 ID_2\n0 0\nF A\n"), 1).ok());
  EXPECT_FALSE(ReadOxfordSamples(dir.Write("v", "ID_1 ID_2\n0 0\nF A\nF A\n"), 2).ok());
}

}  // namespace
}  // namespace tallele

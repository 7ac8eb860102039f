#include "cohort/cohort.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cohort/rank_transform.h"
#include "cohort/sample_file.h"
#include "genotype/bgen/bgen_source.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// Keeps warnings for a test to look at.
class WarningSink final : public EventSink {
 public:
  void Message(Severity severity, std::string_view text) override {
    if (severity == Severity::kWarning) warnings += std::string(text) + "\n";
  }
  void Progress(const ProgressReport&) override {}
  std::string warnings;
};

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
  WarningSink events_;
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
  EXPECT_NE(ragged.find("found 3 fields, expected 4"), std::string::npos) << ragged;
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
  EXPECT_NE(events_.warnings.find("1 cells are -9"), std::string::npos) << events_.warnings;
  request_.missing_codes = {"-9"};
  events_.warnings.clear();
  EXPECT_EQ(Load(pheno).traits[0].num_present, 3u);
  EXPECT_EQ(events_.warnings, "");
}

// A category called -9 is as doubtful as a number.
TEST_F(CohortFiles, MinusNineIsCountedAmongCategories) {
  request_.categorical_covariates = {"C"};
  Load(kPheno, "FID IID C\nF P1 -9\nF P2 a\nF P3 b\n");
  EXPECT_NE(events_.warnings.find("1 cells are -9"), std::string::npos) << events_.warnings;
}

// FID_IID is the same text for both rows; the later one must not win silently.
TEST_F(CohortFiles, TwoSpellingsOfOnePersonAreAnError) {
  samples_.push_back({"A_B", "C", Sex::kUnknown});
  const std::string pheno = Message("FID IID A\nA_B C 1\nF P1 1\nA B_C 2\n");
  EXPECT_NE(pheno.find("line 4"), std::string::npos) << pheno;
  const std::string covar = Message(kPheno, "FID IID C\nA B_C 1\nA_B C 1\n");
  EXPECT_NE(covar.find("line 3"), std::string::npos) << covar;
}

TEST_F(CohortFiles, ColumnsAreChosenExcludedAndChecked) {
  request_.pheno_exclude = {"A"};
  EXPECT_EQ(Load(kPheno).traits[0].name, "B");
  // A name that stands twice is harmless where it is left out.
  EXPECT_EQ(Load("FID IID A A B\nF P1 1 2 3\nF P2 1 2 4\n").traits.size(), 1u);
  request_.pheno_exclude = {"Q"};
  EXPECT_NE(Message(kPheno).find("no column Q"), std::string::npos);
  request_.pheno_exclude = {"A", "B"};
  EXPECT_NE(Message(kPheno).find("no trait is left"), std::string::npos);
  request_.pheno_exclude.clear();
  request_.pheno_columns = {"B", "A"};
  EXPECT_EQ(Load(kPheno).traits[0].name, "B");
  request_.pheno_columns = {"B", "B"};
  EXPECT_NE(Message(kPheno).find("twice"), std::string::npos);
}

// Junk in a column that nobody asked for harms nobody.
TEST_F(CohortFiles, UnusedColumnsAreNotRead) {
  request_.pheno_columns = {"B"};
  EXPECT_EQ(Load("FID IID A B\nF P1 junk 1\nF P2 inf 2\n").traits[0].num_present, 2u);
  request_.covar_columns = {"D"};
  EXPECT_EQ(Load(kPheno, "FID IID C D\nF P1 junk 1\n").covariate_names,
            (std::vector<std::string>{"D"}));
}

TEST_F(CohortFiles, ATraitIsNotItsOwnCovariate) {
  const Cohort cohort = Load(kPheno, "FID IID A C\nF P1 junk 7\nF P2 1 8\n");
  EXPECT_EQ(cohort.covariate_names, (std::vector<std::string>{"C"}));
  EXPECT_NE(events_.warnings.find("covariate A is left out"), std::string::npos);
}

TEST_F(CohortFiles, CategoricalCovariatesAreChecked) {
  const std::string covar = "FID IID C D\nF P1 x 1\nF P2 x 2\nF P6 y 3\n";
  request_.categorical_covariates = {"C"};
  // P6, the one person of level y, has no phenotype: one level is left in the base set.
  EXPECT_EQ(Load(kPheno, covar).covariate_names, (std::vector<std::string>{"D"}));
  EXPECT_NE(events_.warnings.find("C has one level alone"), std::string::npos);
  request_.covar_columns = {"D"};
  EXPECT_NE(Message(kPheno, covar).find("not among the covariates"), std::string::npos);
  request_.categorical_covariates = {"E"};
  EXPECT_NE(Message(kPheno, covar).find("no column E"), std::string::npos);
}

TEST_F(CohortFiles, BinaryTraitsAreZeroOrOne) {
  request_.family = TraitFamily::kBinary;
  request_.apply_rint = true;  // means nothing for classes
  const Cohort cohort = Load("FID IID A\nF P1 1\nF P2 0\nF P3 NA\nF P4 1\n");
  EXPECT_EQ(cohort.traits[0].problem, "");
  EXPECT_EQ(cohort.traits[0].values[0], 1);
  EXPECT_EQ(cohort.traits[0].values[1], 0);
  EXPECT_NE(Message("FID IID A\nF P1 1\nNOT GENOTYPED 2\n").find("line 3"), std::string::npos);
}

// The message must name the reason that emptied the analysis.
TEST_F(CohortFiles, NobodyLeftSaysWhy) {
  request_.sample_mode = SampleMode::kCompleteCase;
  const std::string gaps = Message("FID IID A B\nF P1 1 NA\nF P2 2 NA\n");
  EXPECT_NE(gaps.find("2 lack a trait"), std::string::npos) << gaps;
  EXPECT_NE(gaps.find("4 are not in the phenotype file"), std::string::npos) << gaps;
  request_.sample_mode = SampleMode::kPerPhenotype;
  request_.keep_files = {dir_.Write("keep", "X Y\n")};
  EXPECT_NE(Message(kPheno).find("6 are not in the --keep files"), std::string::npos);
}

TEST_F(CohortFiles, ATraitThatCannotBeAnalysedCarriesItsReason) {
  const Cohort cohort = Load("FID IID A B C D\nF P1 1 5 NA 1\nF P2 2 5 NA 0\nF P3 3 5 NA 1\n");
  EXPECT_EQ(cohort.traits[0].problem, "");
  EXPECT_NE(cohort.traits[1].problem.find("equal"), std::string::npos);
  EXPECT_NE(cohort.traits[2].problem.find("missing"), std::string::npos);
  EXPECT_NE(cohort.traits[3].problem.find("--force-qt"), std::string::npos);
  EXPECT_NE(cohort.traits[3].problem.find("--bt"), std::string::npos);
  request_.force_qt = true;
  EXPECT_EQ(Load("FID IID D\nF P1 1\nF P2 0\nF P3 1\n").traits[0].problem, "");
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
  request_.keep_files = request_.remove_files = {dir_.Write("both", "F P1\n")};
  EXPECT_NE(Message(kPheno).find("exclude each other"), std::string::npos);
  request_.remove_files.clear();
  request_.keep_files = {dir_.Write("short", "F P1\nP2\n")};
  EXPECT_NE(Message(kPheno).find("line 2"), std::string::npos);
  request_.keep_files.clear();
  for (SampleIdentity& sample : samples_) sample.sex = Sex::kUnknown;
  EXPECT_NE(Message(kPheno).find("nobody's is known"), std::string::npos);
}

// The transform ranks a trait's own people of the base set: the outlier without a covariate and
// the gap of the other trait leave no trace.
TEST_F(CohortFiles, RanksAreThoseOfTheTraitsOwnPeople) {
  request_.apply_rint = true;
  const Cohort cohort = Load("FID IID A B\nF P1 3 NA\nF P2 1 5\nF P3 2 6\nF P4 999 7\n",
                             "FID IID C\nF P1 1\nF P2 2\nF P3 4\nF P4 NA\n");
  // Ranks 3, 1, 2 of three: quantiles of 2.625/3.25, 0.625/3.25, 1.625/3.25, by mpmath.
  const double tail = 0.869423773288885976833;
  EXPECT_NEAR(cohort.traits[0].values[0], tail, 1e-12);
  EXPECT_NEAR(cohort.traits[0].values[1], -tail, 1e-12);
  EXPECT_NEAR(cohort.traits[0].values[2], 0, 1e-12);
}

// Ranks 1, 2.5, 2.5, 4 of four values: normal quantiles of 0.625/4.25, 2.125/4.25, 3.625/4.25, by
// mpmath at 40 digits.
TEST(RankTransform, AveragesTiesAndSkipsMissing) {
  std::vector<double> values = {5, -1, 5, NAN, 100};
  RankInverseNormal(values);
  EXPECT_NEAR(values[1], -1.0491313979639711848, 1e-14);
  EXPECT_NEAR(values[0], 0, 1e-14);
  EXPECT_EQ(values[0], values[2]);
  EXPECT_NEAR(values[4], 1.0491313979639711848, 1e-14);
  EXPECT_TRUE(std::isnan(values[3]));
}

// The golden cohort. N of each trait is the largest N in REGENIE's own result, alone and with
// --strict; the order of the levels of `batch` is that of their first lines.
TEST(CohortFixture, GoldenCohortHasRegeniesPeople) {
  const auto fixtures = SharedFixtures();
  if (!fixtures) GTEST_SKIP() << "needs the shared fixtures";
  const auto golden = [&](const char* name) { return (*fixtures / "golden" / name).string(); };
  CohortRequest request;
  request.pheno_file = golden("phenotypes_qt.tsv");
  request.covar_file = golden("covariates.tsv");
  request.categorical_covariates = {"batch"};
  auto named = ReadOxfordSamples(golden("imputed.sample"), 2200);
  auto source = OpenBgen(golden("imputed.bgen"));
  ASSERT_TRUE(named.ok() && source.ok());
  NullEventSink events;
  for (const auto& samples : {*named, (*source)->samples()}) {
    request.sample_mode = SampleMode::kPerPhenotype;
    auto cohort = LoadCohort(request, samples, events);
    ASSERT_TRUE(cohort.ok()) << cohort.error().Message();
    EXPECT_EQ(cohort->base.size(), 2200u);
    ASSERT_EQ(cohort->traits.size(), 3u);
    EXPECT_EQ(cohort->traits[0].num_present, 2200u);
    EXPECT_EQ(cohort->traits[1].num_present, 2064u);
    EXPECT_EQ(cohort->traits[2].num_present, 2103u);
    EXPECT_EQ(cohort->covariate_names,
              (std::vector<std::string>{"age", "sex", "PC1", "PC2", "PC3", "batch=b0", "batch=b3",
                                        "batch=b1"}));
    // The second person of the file.
    EXPECT_EQ(cohort->traits[0].values[1], 65.64184);
    EXPECT_EQ(cohort->covariates[0][1], 57.1);
    request.sample_mode = SampleMode::kCompleteCase;
    auto strict = LoadCohort(request, samples, events);
    ASSERT_TRUE(strict.ok());
    EXPECT_EQ(strict->base.size(), 1971u);
  }
}

}  // namespace
}  // namespace tallele

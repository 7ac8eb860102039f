// Protects: quantitative results equal REGENIE 4.1.2's on a related, structured cohort, with and
// without predictions, covariates, the rank transform, shared intersections and hard calls.
// Expected values: files that REGENIE wrote (see the README beside them).

#include <gtest/gtest.h>

#include "assoc/scan.h"
#include "tests/golden/regenie_text.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

std::filesystem::path Golden() {
  const auto shared = SharedFixtures();
  return shared ? *shared / "golden" : std::filesystem::path();
}

ScanRequest CommonRequest(const std::string& trait) {
  const std::filesystem::path golden = Golden();
  ScanRequest request;
  request.bgen = golden / "imputed.bgen";
  request.sample = golden / "imputed.sample";
  request.ref_first = true;
  request.min_mac = 0.5;
  request.cohort.pheno_file = golden / "phenotypes_qt.tsv";
  request.cohort.pheno_columns = {trait};
  request.cohort.covar_file = golden / "covariates.tsv";
  request.cohort.covar_columns = {"age", "sex", "PC1", "PC2", "PC3", "batch"};
  request.cohort.categorical_covariates = {"batch"};
  request.pred = golden / ("regenie/s1_" + trait + "_pred.list");
  request.format = OutputFormat::kRegenie;
  request.threads = 2;
  return request;
}

class GoldenLinear : public testing::Test {
 protected:
  void SetUp() override {
    if (!SharedFixtures()) GTEST_SKIP() << "the folder of shared fixtures is absent";
  }

  // Runs `request` and compares the file of each trait with REGENIE's "<name>_<trait>.regenie".
  void Compare(ScanRequest request, const std::string& name) {
    request.out = directory_.File(name);
    NullEventSink events;
    auto plan = PlanScan(request, events);
    ASSERT_TRUE(plan.ok()) << plan.error().Message();
    auto summary = RunScan(**plan, events, CancelToken());
    ASSERT_TRUE(summary.ok()) << summary.error().Message();
    EXPECT_TRUE(summary->problems.empty());
    for (const std::string& trait : request.cohort.pheno_columns) {
      SCOPED_TRACE(name + "_" + trait);
      const std::string file = name + "_" + trait + ".regenie";
      golden::ExpectSameResults(golden::ReadRegenieText(directory_.File(file)),
                                golden::ReadRegenieText(Golden() / "regenie" / file));
    }
  }

  TempDir directory_;
};

TEST_F(GoldenLinear, Predictions) {
  for (const char* trait : {"QT1", "QT2", "QT3"}) Compare(CommonRequest(trait), "qt");
}

TEST_F(GoldenLinear, WithoutPredictions) {
  ScanRequest request = CommonRequest("QT1");
  request.pred.clear();
  request.ignore_pred = true;
  Compare(request, "qt_nopred");
}

TEST_F(GoldenLinear, WithoutCovariates) {
  ScanRequest request = CommonRequest("QT1");
  request.cohort.covar_file.clear();
  request.cohort.covar_columns.clear();
  request.cohort.categorical_covariates.clear();
  Compare(request, "qt_nocov");
}

TEST_F(GoldenLinear, RankTransform) {
  ScanRequest request = CommonRequest("QT3");
  request.cohort.apply_rint = true;
  Compare(request, "qt_rint");
}

TEST_F(GoldenLinear, CompleteCases) {
  ScanRequest request = CommonRequest("QT1");
  request.cohort.pheno_columns = {"QT1", "QT2", "QT3"};
  request.cohort.sample_mode = SampleMode::kCompleteCase;
  request.pred.clear();
  request.ignore_pred = true;
  Compare(request, "qt_strict");
}

TEST_F(GoldenLinear, HardCalls) {
  ScanRequest request = CommonRequest("QT1");
  request.bgen.clear();
  request.sample.clear();
  request.bed = Golden() / "array";
  request.min_mac = 5;
  Compare(request, "bed_qt");
}

TEST_F(GoldenLinear, ZstandardFileGivesTheSameRows) {
  ScanRequest request = CommonRequest("QT2");
  request.bgen = Golden() / "imputed_zstd.bgen";
  Compare(request, "qt");
}

}  // namespace
}  // namespace tallele

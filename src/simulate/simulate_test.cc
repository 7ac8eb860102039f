#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cohort/cohort.h"
#include "cohort/loco_predictions.h"
#include "cohort/sample_file.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bgen/bgen_source.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

SimulationRequest SmallRequest(const TempDir& dir, const std::string& name) {
  SimulationRequest request;
  request.out = (dir.path() / name).string();
  request.num_people = 1000;
  request.num_variants = 300;
  request.num_array_variants = 100;
  request.num_causal = 20;
  request.num_gapped_traits = 2;
  request.missing_call_share = 0.01;
  return request;
}

SimulationSummary Write(const SimulationRequest& request) {
  NullEventSink events;
  CancelToken cancel;
  auto summary = Simulate(request, events, cancel);
  EXPECT_TRUE(summary.ok()) << summary.error().Message();
  return *summary;
}

TEST(Simulate, EveryThreadCountWritesTheSameBytes) {
  TempDir dir;
  SimulationRequest request = SmallRequest(dir, "a");
  request.num_threads = 1;
  const SimulationSummary one = Write(request);
  request.out = (dir.path() / "b").string();
  request.num_threads = 3;
  const SimulationSummary three = Write(request);
  ASSERT_EQ(one.files.size(), three.files.size());
  for (size_t i = 0; i < one.files.size(); ++i) {
    if (one.files[i].ends_with("_pred.list")) continue;  // names the files
    EXPECT_EQ(ReadWholeFile(one.files[i]), ReadWholeFile(three.files[i])) << one.files[i];
  }
}

TEST(Simulate, FilesAreReadBackAndAgree) {
  TempDir dir;
  const SimulationRequest request = SmallRequest(dir, "c");
  Write(request);
  auto source = OpenBgen(request.out + ".bgen");
  ASSERT_TRUE(source.ok()) << source.error().Message();
  EXPECT_EQ((*source)->num_samples(), 1000u);
  EXPECT_EQ((*source)->variants().size(), 300u);
  EXPECT_EQ((*source)->variants().runs().size(), 5u);
  auto cursor = (*source)->OpenCursor({1000, std::nullopt}, {}, CpuTarget::kScalar);
  VariantBlock block;
  for (const ChromosomeRun& run : (*source)->variants().runs()) {
    ASSERT_TRUE((*cursor)->Read(run.range).ok());
    const Result<void> decoded = (*cursor)->Decode(block);
    ASSERT_TRUE(decoded.ok()) << decoded.error().Message();
  }
  const auto bed = OpenBed(request.out + "_array", nullptr);
  ASSERT_TRUE(bed.ok()) << bed.error().Message();
  EXPECT_EQ((*bed)->variants().size(), 100u);

  NullEventSink events;
  auto samples = ResolveSamples(**source, request.out + ".sample");
  ASSERT_TRUE(samples.ok());
  CohortRequest tables;
  tables.pheno_file = request.out + "_pheno.tsv";
  tables.covar_file = request.out + "_covar.tsv";
  tables.categorical_covariates = {"batch"};
  auto cohort = LoadCohort(tables, *samples, events);
  ASSERT_TRUE(cohort.ok()) << cohort.error().Message();
  EXPECT_EQ(cohort->base.size(), 1000u);
  EXPECT_EQ(cohort->traits[0].num_present, 1000u);
  EXPECT_EQ(cohort->traits[1].num_present, 950u);
  const std::vector<std::string> traits = {"QT1", "QT2", "BT1"};
  auto loco =
      LocoPredictions::Open(request.out + "_pred.list", traits, cohort->base_keys, 22, events);
  ASSERT_TRUE(loco.ok()) << loco.error().Message();
  const auto row = (*loco)->Load(0, 3);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->absent_people, 0u);
}

// What was asked for is there within sampling error: cases, frequencies and the variance that a
// prediction explains.
TEST(Simulate, SharesAndVariancesAreThoseAskedFor) {
  TempDir dir;
  SimulationRequest request = SmallRequest(dir, "d");
  request.num_people = 6000;
  request.num_gapped_traits = 0;
  request.family_share = 0;
  Write(request);
  auto source = OpenBgen(request.out + ".bgen");
  auto samples = ResolveSamples(**source, request.out + ".sample");
  NullEventSink events;
  CohortRequest tables;
  tables.pheno_file = request.out + "_pheno.tsv";
  auto cohort = LoadCohort(tables, *samples, events);
  ASSERT_TRUE(cohort.ok());
  double cases = 0;
  for (const double y : cohort->traits[2].values) cases += y;
  EXPECT_NEAR(cases / 6000, 0.2, 0.001);
  const std::vector<std::string> traits = {"QT1", "QT2", "BT1"};
  auto loco =
      LocoPredictions::Open(request.out + "_pred.list", traits, cohort->base_keys, 22, events);
  const auto prediction = (*loco)->Load(0, 23);  // leaves nothing out
  ASSERT_TRUE(prediction.ok());
  // QT1 = 50 + 10 (covariates + g + e): the prediction has squared correlation accuracy * h2 with
  // g + e, and the trait's variance is 1 + covariate_variance in its own units.
  double sy = 0, syy = 0, sp = 0, spp = 0, spy = 0;
  for (size_t i = 0; i < 6000; ++i) {
    const double y = cohort->traits[0].values[i], p = prediction->values[i];
    sy += y, syy += y * y, sp += p, spp += p * p, spy += p * y;
  }
  const double n = 6000, cov = spy / n - sp / n * sy / n;
  const double vy = syy / n - sy / n * sy / n, vp = spp / n - sp / n * sp / n;
  EXPECT_NEAR(vy, 100 * 1.2, 15);
  EXPECT_NEAR(cov * cov / (vy * vp), request.loco_accuracy * request.heritability / 1.2, 0.05);
}

TEST(Simulate, ImpossibleRequestsAreRefused) {
  SimulationRequest request;
  request.bits = 7;
  EXPECT_FALSE(CheckSimulationRequest(request).ok());
  request = {};
  request.num_chromosomes = 23;
  EXPECT_FALSE(CheckSimulationRequest(request).ok());
  request = {};
  request.maf_mix = {0, 0, 0};
  EXPECT_FALSE(CheckSimulationRequest(request).ok());
  request = {};
  EXPECT_TRUE(CheckSimulationRequest(request).ok());
}

TEST(Simulate, AnInterruptionLeavesNoUnfinishedFile) {
  TempDir dir;
  const SimulationRequest request = SmallRequest(dir, "e");
  NullEventSink events;
  CancelToken cancel;
  cancel.Cancel();
  const auto summary = Simulate(request, events, cancel);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().kind, ErrorKind::kInterrupted);
  EXPECT_FALSE(std::ifstream(request.out + ".bgen").good());
}

}  // namespace
}  // namespace tallele

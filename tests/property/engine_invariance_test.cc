// Protects: what must not change the statistics beyond rounding: origin and unit of covariates,
// unit and origin of the trait, and which allele is counted.

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tests/property/in_memory_scan.h"

namespace tallele::property {
namespace {

constexpr size_t kPeople = 500;

InMemoryScan PlainScan() {
  RandomStream random(21, 1);
  InMemoryScan scan = MakeScan(kPeople);
  scan.cohort.covariate_names = {"a", "b"};
  scan.cohort.covariates.resize(2);
  std::vector<double> trait;
  for (size_t i = 0; i < kPeople; ++i) {
    scan.cohort.covariates[0].push_back(random.NextNormal());
    scan.cohort.covariates[1].push_back(random.NextUniform());
    trait.push_back(i % 17 == 5 ? std::nan("") : random.NextNormal());
  }
  AddTrait(scan, "t", trait);
  scan.loco.emplace_back();
  for (size_t i = 0; i < kPeople; ++i) scan.loco[0].push_back(0.2 * random.NextNormal());
  for (const double frequency : {0.004, 0.1, 0.5, 0.95}) {
    MadeVariant made;
    for (size_t i = 0; i < kPeople; ++i) {
      const int copies =
          (random.NextUniform() < frequency ? 1 : 0) + (random.NextUniform() < frequency ? 1 : 0);
      StoredPair pair{copies == 2 ? 250u : 1u, copies == 1 ? 240u : 3u};
      made.calls.push_back(random.NextUniform() < 0.02 ? std::nullopt : std::optional(pair));
    }
    scan.variants.push_back(std::move(made));
  }
  return scan;
}

void ExpectClose(const InMemoryScan& a, const InMemoryScan& b, double effect_factor) {
  const auto left = a.Run(CpuTarget::kScalar, 4);
  const auto right = b.Run(CpuTarget::kScalar, 4);
  for (size_t v = 0; v < a.variants.size(); ++v) {
    const ResultRow& x = left[0].rows[v];
    const ResultRow& y = right[0].rows[v];
    EXPECT_NEAR(y.chisq, x.chisq, 1e-7 * (x.chisq + std::sqrt(x.chisq))) << v;
    EXPECT_NEAR(y.beta, x.beta * effect_factor, 1e-7 * y.se) << v;
    EXPECT_NEAR(y.se, x.se * std::fabs(effect_factor), 1e-7 * y.se) << v;
  }
}

TEST(EngineInvariance, OriginAndUnitOfCovariates) {
  const InMemoryScan scan = PlainScan();
  for (const double shift : {0.0, 2000.0, 1e7}) {
    for (const double unit : {1e-6, 1.0, 1e6}) {
      InMemoryScan other = scan;
      for (double& x : other.cohort.covariates[0]) x = x * unit + shift * unit;
      ExpectClose(scan, other, 1);
    }
  }
}

TEST(EngineInvariance, UnitAndOriginOfTheTrait) {
  const InMemoryScan scan = PlainScan();
  for (const double unit : {1e-5, 1.0, 1e5}) {
    for (const double origin : {0.0, 1e6}) {
      InMemoryScan other = scan;
      for (double& y : other.cohort.traits[0].values) y = (y + origin) * unit;
      ExpectClose(scan, other, unit);
    }
  }
}

TEST(EngineInvariance, CountedAllele) {
  const InMemoryScan scan = PlainScan();
  InMemoryScan second = scan;
  second.settings.coding.effect_is_second = true;
  ExpectClose(scan, second, -1);

  // The same genotypes with the alleles of the file exchanged.
  InMemoryScan exchanged = scan;
  for (MadeVariant& variant : exchanged.variants) {
    for (auto& call : variant.calls) {
      if (call) call->a0 = variant.denominator - call->a0 - call->a1;
    }
  }
  ExpectClose(scan, exchanged, -1);
}

TEST(EngineInvariance, ARepeatedCovariateChangesNothing) {
  const InMemoryScan scan = PlainScan();
  InMemoryScan other = scan;
  other.cohort.covariate_names.push_back("again");
  other.cohort.covariates.push_back(scan.cohort.covariates[1]);
  for (double& x : other.cohort.covariates.back()) x = 5 - 3 * x;
  ExpectClose(scan, other, 1);
}

// A covariate that varies outside the trait's people only: the rank, and so the degrees of
// freedom, are the mask's own.
TEST(EngineInvariance, RankIsDecidedWithinTheMask) {
  const InMemoryScan scan = PlainScan();
  InMemoryScan other = scan;
  other.cohort.covariate_names.push_back("outside");
  std::vector<double> outside(kPeople, 0);
  for (size_t i = 0; i < kPeople; ++i) {
    if (std::isnan(scan.cohort.traits[0].values[i])) outside[i] = 1 + static_cast<double>(i % 3);
  }
  other.cohort.covariates.push_back(outside);
  ExpectClose(scan, other, 1);
}

}  // namespace
}  // namespace tallele::property

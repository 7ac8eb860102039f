// Protects: the engine's statistics against the definition in long double, for every kind of
// call, mask, coding and axis, and the equality of bits over instruction sets, block widths and
// co-analysed traits. Expected values: tests/golden/reference_linear.h.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "tests/property/in_memory_scan.h"

namespace tallele::property {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Copies {
  double two = 0, one = 0;
};

// Probabilities of a noisy imputed genotype.
Copies DrawCopies(RandomStream& random, double frequency) {
  const int copies =
      (random.NextUniform() < frequency ? 1 : 0) + (random.NextUniform() < frequency ? 1 : 0);
  const double sure = 0.7 + 0.3 * random.NextUniform();
  const double rest = (1 - sure) / 2;
  return {copies == 2 ? sure : rest, copies == 1 ? sure : rest};
}

struct VariantKind {
  double frequency = 0.3;
  double missing = 0;
  uint32_t denominator = 255;
  bool phased = false;
  bool sparse = false;
  bool haploid_half = false;
};

MadeVariant DrawVariant(RandomStream& random, size_t n, const VariantKind& kind) {
  MadeVariant made;
  made.denominator = kind.denominator;
  made.phased = kind.phased;
  made.sparse = kind.sparse;
  if (kind.haploid_half) made.haploid.assign(n, false);
  const double d = kind.denominator;
  for (size_t i = 0; i < n; ++i) {
    const bool haploid = kind.haploid_half && i % 2 == 1;
    if (haploid) made.haploid[i] = true;
    Copies c = DrawCopies(random, kind.frequency);
    if (kind.sparse && i % 9 != 4) c = {0, 0};
    StoredPair pair;
    if (kind.phased) {
      pair = {static_cast<uint32_t>(d * random.NextUniform()),
              static_cast<uint32_t>(d * random.NextUniform())};
      if (haploid) pair.a1 = pair.a0;
    } else {
      pair.a0 = static_cast<uint32_t>(d * c.two + 0.5);
      const auto one = static_cast<uint32_t>(d * c.one + 0.5);
      pair.a1 = haploid ? 0 : std::min(one, kind.denominator - pair.a0);
    }
    const bool missing = random.NextUniform() < kind.missing;
    made.calls.push_back(missing ? std::nullopt : std::optional(pair));
  }
  return made;
}

std::vector<VariantKind> AllKinds() {
  return {{},
          {.frequency = 0.01},
          {.frequency = 0.98, .missing = 0.05},
          {.missing = 0.1},
          {.denominator = 65535, .phased = false},
          {.missing = 0.05, .denominator = (1u << 21) - 1},
          {.denominator = 32768},
          {.denominator = UINT32_MAX},
          {.phased = true},
          {.missing = 0.1, .denominator = 65535, .phased = true},
          {.frequency = 0.2, .sparse = true},
          {.missing = 0.1, .sparse = true},
          {.denominator = 1, .haploid_half = true},
          {.missing = 0.05, .haploid_half = true},
          {.phased = true, .haploid_half = true},
          {.sparse = true, .haploid_half = true}};
}

// 331 people in the file, of whom `num_base` are in the base set; three traits: complete, with
// random gaps, and present in a minority.
InMemoryScan MixedScan(size_t num_file, size_t num_base, bool with_loco) {
  RandomStream random(11, num_base);
  InMemoryScan scan = MakeScan(num_file);
  scan.cohort.base.resize(num_base);
  scan.cohort.base_sex.resize(num_base);
  // Some of the file's people are not in the base set, the first among them.
  const size_t front = num_file > num_base ? 1 : 0;
  for (size_t b = 0; b < num_base; ++b) {
    scan.cohort.base[b] = static_cast<uint32_t>(front + b * (num_file - front) / num_base);
    scan.cohort.base_sex[b] = b % 2 == 0 ? Sex::kMale : Sex::kFemale;
  }
  scan.cohort.covariate_names = {"age", "site", "age_again"};
  scan.cohort.covariates.resize(3);
  std::vector<double> complete, gaps, minority;
  for (size_t b = 0; b < num_base; ++b) {
    scan.cohort.covariates[0].push_back(50 + 10 * random.NextNormal());
    scan.cohort.covariates[1].push_back(b % 5 == 0);
    scan.cohort.covariates[2].push_back(3 * scan.cohort.covariates[0].back() + 7);
    complete.push_back(100 + 3 * random.NextNormal());
    gaps.push_back(b % 11 == 3 ? kNaN : 1e4 + 10 * random.NextNormal());
    minority.push_back(b % 3 != 1 ? kNaN : random.NextNormal());
  }
  AddTrait(scan, "complete", complete);
  AddTrait(scan, "gaps", gaps);
  AddTrait(scan, "minority", minority);
  if (with_loco) {
    for (int t = 0; t < 3; ++t) {
      scan.loco.emplace_back();
      for (size_t b = 0; b < num_base; ++b) {
        scan.loco.back().push_back(t == 1 && b % 40 == 7 ? kNaN : 0.1 + 0.3 * random.NextNormal());
      }
    }
  }
  for (const VariantKind& kind : AllKinds()) {
    scan.variants.push_back(DrawVariant(random, num_file, kind));
  }
  return scan;
}

void ExpectNear(double found, golden::Real expected, golden::Real unit, double tolerance,
                const std::string& what) {
  EXPECT_LE(std::fabs(static_cast<double>(found - expected)), tolerance * static_cast<double>(unit))
      << what << ": " << found << ", expected " << static_cast<double>(expected);
}

void ExpectOracle(const InMemoryScan& scan, double tolerance) {
  const std::vector<ResultTable> tables = scan.Run(CpuTarget::kScalar, 5);
  for (size_t t = 0; t < tables.size(); ++t) {
    ASSERT_EQ(tables[t].rows.size(), scan.variants.size());
    for (size_t v = 0; v < scan.variants.size(); ++v) {
      const ResultRow& row = tables[t].rows[v];
      const golden::ReferenceRow want = scan.Expect(t, v);
      const std::string what = scan.cohort.traits[t].name + " variant " + std::to_string(v);
      EXPECT_EQ(row.variant, v);
      EXPECT_EQ(row.n, want.n) << what;
      EXPECT_EQ(row.status, RowStatus::kSuccess) << what;
      ExpectNear(row.beta, want.beta, want.se, tolerance, what + " BETA");
      ExpectNear(row.se, want.se, want.se, tolerance, what + " SE");
      ExpectNear(row.chisq, want.chisq, std::sqrt(want.chisq) + want.chisq, 2 * tolerance,
                 what + " CHISQ");
      ExpectNear(row.a1freq, scan.ExpectFrequency(t, v), 1, 1e-14, what + " A1FREQ");
    }
  }
}

void ExpectSameBits(const ResultTable& a, const ResultTable& b, const std::string& what) {
  ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    const double left[] = {a.rows[i].beta,   a.rows[i].se,   a.rows[i].chisq,     a.rows[i].log10p,
                           a.rows[i].a1freq, a.rows[i].info, a.rows[i].info_ratio};
    const double right[] = {b.rows[i].beta,   b.rows[i].se,   b.rows[i].chisq,     b.rows[i].log10p,
                            b.rows[i].a1freq, b.rows[i].info, b.rows[i].info_ratio};
    EXPECT_EQ(std::memcmp(left, right, sizeof left), 0) << what << ", row " << i;
    EXPECT_EQ(a.rows[i].n, b.rows[i].n) << what;
    EXPECT_EQ(a.rows[i].status, b.rows[i].status) << what;
  }
}

TEST(EngineOracle, EveryKindOfCallOnTheWholeFile) {
  ExpectOracle(MixedScan(331, 331, false), 1e-7);
  ExpectOracle(MixedScan(331, 290, false), 1e-7);
}

TEST(EngineOracle, EveryKindOfCallOnTheUsedPeopleAlone) {
  ExpectOracle(MixedScan(900, 331, true), 1e-7);
}

TEST(EngineOracle, PredictionsAndTheirGaps) { ExpectOracle(MixedScan(331, 290, true), 1e-7); }

TEST(EngineOracle, DominantAndRecessiveOfEitherAllele) {
  for (const GeneticModel model : {GeneticModel::kDominant, GeneticModel::kRecessive}) {
    for (const bool second : {false, true}) {
      InMemoryScan scan = MixedScan(331, 290, true);
      scan.settings.coding = {model, second};
      if (model == GeneticModel::kRecessive) {
        // Two copies of a rare allele are too few for a test in the minority trait.
        scan.variants.erase(scan.variants.begin() + 1, scan.variants.begin() + 3);
      }
      ExpectOracle(scan, 1e-7);
    }
  }
}

TEST(EngineOracle, SecondAlleleAsEffect) {
  InMemoryScan scan = MixedScan(331, 290, true);
  scan.settings.coding = {GeneticModel::kAdditive, true};
  ExpectOracle(scan, 1e-7);
}

TEST(EngineBits, InstructionSetsAndWidths) {
  const InMemoryScan scan = MixedScan(331, 290, true);
  const auto first = scan.Run(CpuTarget::kScalar, scan.variants.size());
  for (const CpuTarget target : AllCpuTargets()) {
    const auto supported = SupportedCpuTargets();
    if (std::find(supported.begin(), supported.end(), target) == supported.end()) {
      std::printf("not run here: %s\n", std::string(CpuTargetName(target)).c_str());
      continue;
    }
    for (const size_t width : {size_t{1}, size_t{7}, scan.variants.size()}) {
      const auto again = scan.Run(target, width);
      for (size_t t = 0; t < first.size(); ++t) {
        ExpectSameBits(first[t], again[t], std::string(CpuTargetName(target)));
      }
    }
  }
}

TEST(EngineBits, TraitsAloneAndTogether) {
  for (const size_t num_file : {size_t{331}, size_t{400}, size_t{900}}) {
    const InMemoryScan together = MixedScan(num_file, 290, true);
    const auto all = together.Run(CpuTarget::kScalar, 7);
    for (size_t t = 0; t < 3; ++t) {
      InMemoryScan alone = together;
      alone.cohort.traits = {together.cohort.traits[t]};
      alone.loco = {together.loco[t]};
      ExpectSameBits(all[t], alone.Run(CpuTarget::kScalar, 3)[0], together.cohort.traits[t].name);
    }
  }
}

TEST(EngineEdges, AVariantThatIsACovariateHasNoStatistics) {
  InMemoryScan scan = MixedScan(331, 331, false);
  MadeVariant made;
  for (size_t i = 0; i < 331; ++i) {
    made.calls.push_back(StoredPair{0, scan.cohort.covariates[1][i] > 0 ? 255u : 0u});
  }
  MadeVariant sparse = made;
  sparse.sparse = true;
  MadeVariant constant;
  constant.calls.assign(331, StoredPair{255, 0});
  scan.variants = {made, sparse, constant};
  for (const ResultTable& table : scan.Run(CpuTarget::kScalar, 3)) {
    for (const ResultRow& row : table.rows) {
      EXPECT_EQ(row.status, RowStatus::kNoVariance);
      EXPECT_TRUE(std::isnan(row.chisq) && std::isnan(row.beta) && std::isnan(row.log10p));
    }
    EXPECT_EQ(table.rows[2].info, 1);
    EXPECT_EQ(table.rows[2].a1freq, 1);
  }
}

TEST(EngineEdges, AnExactlyZeroScoreIsAResult) {
  InMemoryScan scan = MakeScan(4);
  AddTrait(scan, "t", {1, -1, 1, -1});
  MadeVariant made;
  for (const uint32_t one : {255u, 255u, 0u, 0u}) made.calls.push_back(StoredPair{0, one});
  scan.variants = {made};
  const ResultRow row = scan.Run(CpuTarget::kScalar, 1)[0].rows.at(0);
  EXPECT_EQ(row.status, RowStatus::kSuccess);
  EXPECT_EQ(row.beta, 0);
  EXPECT_EQ(row.chisq, 0);
  EXPECT_EQ(row.log10p, 0);
  EXPECT_GT(row.se, 0);
}

// The accuracy bound: 50,000 people, 20 covariates of which two are nearly collinear,
// normal and log-normal (sigma 1) residuals, from minor allele count 5 up.
TEST(EngineAccuracy, FiftyThousandPeople) {
  constexpr size_t kPeople = 50'000;
  RandomStream random(5, 5);
  InMemoryScan scan = MakeScan(kPeople);
  scan.cohort.covariates.resize(20);
  for (size_t c = 0; c < 20; ++c) {
    scan.cohort.covariate_names.push_back("c" + std::to_string(c));
    for (size_t i = 0; i < kPeople; ++i) {
      scan.cohort.covariates[c].push_back(
          c == 7 ? scan.cohort.covariates[6][i] + 1e-5 * random.NextNormal()
                 : 100.0 * static_cast<double>(c) + random.NextNormal());
    }
  }
  std::vector<double> normal, skewed, gaps;
  for (size_t i = 0; i < kPeople; ++i) {
    normal.push_back(1000 + random.NextNormal());
    skewed.push_back(std::exp(random.NextNormal()));
    gaps.push_back(random.NextUniform() < 0.05 ? kNaN : std::exp(random.NextNormal()));
  }
  AddTrait(scan, "normal", normal);
  AddTrait(scan, "skewed", skewed);
  AddTrait(scan, "gaps", gaps);
  for (const double frequency : {0.00005, 0.0005, 0.01, 0.2, 0.5, 0.9999}) {
    MadeVariant made;
    for (size_t i = 0; i < kPeople; ++i) {
      const int copies =
          (random.NextUniform() < frequency ? 1 : 0) + (random.NextUniform() < frequency ? 1 : 0);
      made.calls.push_back(StoredPair{copies == 2 ? 255u : 0u, copies == 1 ? 255u : 0u});
    }
    scan.variants.push_back(std::move(made));
  }
  const auto tables = scan.Run(SupportedCpuTargets().back(), 6);
  for (size_t t = 0; t < 3; ++t) {
    for (size_t v = 0; v < scan.variants.size(); ++v) {
      const golden::ReferenceRow want = scan.Expect(t, v);
      if (want.chisq < 0.1) continue;
      const double error = std::fabs(static_cast<double>(tables[t].rows[v].chisq / want.chisq - 1));
      EXPECT_LT(error, 1e-6) << scan.cohort.traits[t].name << " variant " << v << " chisq "
                             << static_cast<double>(want.chisq);
    }
  }
}

// Two covariates that differ only outside a trait's people, but for 1e-4 of their size: the
// direction is nearly lost inside the mask, and quantisation shows there.
TEST(EngineAccuracy, CollinearInsideTheMaskOnly) {
  constexpr size_t kPeople = 5000;
  RandomStream random(8, 8);
  InMemoryScan scan = MakeScan(kPeople);
  scan.cohort.covariate_names = {"a", "b"};
  scan.cohort.covariates.resize(2);
  std::vector<double> trait;
  for (size_t i = 0; i < kPeople; ++i) {
    const bool outside = i % 10 == 0;
    const double a = random.NextNormal();
    scan.cohort.covariates[0].push_back(a);
    scan.cohort.covariates[1].push_back(a + (outside ? 1 : 1e-4) * random.NextNormal());
    trait.push_back(outside ? kNaN : random.NextNormal());
  }
  AddTrait(scan, "t", trait);
  for (const double frequency : {0.001, 0.05, 0.4}) {
    scan.variants.push_back(DrawVariant(random, kPeople, {.frequency = frequency}));
  }
  const auto tables = scan.Run(CpuTarget::kScalar, 3);
  for (size_t v = 0; v < scan.variants.size(); ++v) {
    const golden::ReferenceRow want = scan.Expect(0, v);
    ExpectNear(tables[0].rows[v].chisq, want.chisq, want.chisq + std::sqrt(want.chisq), 1e-4,
               "variant " + std::to_string(v));
  }
}

}  // namespace
}  // namespace tallele::property

// Protects: rows of a binary trait are the same bits whatever instruction set, block width, form of
// storage and co-analysed traits with other gaps, for every correction.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "kernels/normal_tail.h"
#include "tests/property/in_memory_scan.h"

namespace tallele::property {
namespace {

constexpr size_t kPeople = 700;

InMemoryScan MakeBinaryScan(BinaryCorrection correction) {
  RandomStream random(77, 1);
  InMemoryScan scan = MakeScan(kPeople);
  scan.is_binary = true;
  scan.binary.correction = correction;
  scan.settings.correction_chisq =
      correction == BinaryCorrection::kNone ? 0 : ChiSquareUpperQuantile(0.6);
  scan.cohort.covariate_names = {"a", "b"};
  scan.cohort.covariates.resize(2);
  std::vector<double> risk;
  for (size_t i = 0; i < kPeople; ++i) {
    scan.cohort.covariates[0].push_back(random.NextNormal());
    scan.cohort.covariates[1].push_back(random.NextUniform());
    risk.push_back(random.NextUniform() + 0.05 * scan.cohort.covariates[0].back());
  }
  for (size_t t = 0; t < 3; ++t) {
    std::vector<double> values;
    for (size_t i = 0; i < kPeople; ++i) {
      const bool gap = t == 1 ? i % 9 == 2 : t == 2 && i > 250;
      values.push_back(gap ? std::nan("") : risk[(i * (t + 1)) % kPeople] > 0.85 ? 1 : 0);
    }
    AddTrait(scan, "t" + std::to_string(t), values);
    scan.loco.emplace_back();
    for (size_t i = 0; i < kPeople; ++i) scan.loco[t].push_back(0.3 * random.NextNormal());
  }
  for (const double frequency : {0.003, 0.01, 0.02, 0.1, 0.3, 0.5, 0.9, 0.985, 0.995}) {
    for (const uint32_t denominator : {255u, 65535u}) {
      MadeVariant made;
      made.denominator = denominator;
      made.phased = frequency == 0.3;
      for (size_t i = 0; i < kPeople; ++i) {
        const bool first = random.NextUniform() < frequency,
                   second = random.NextUniform() < frequency;
        StoredPair pair;
        if (made.phased) {
          pair = {first ? denominator : 0, second ? denominator : 0};
        } else {
          pair = {first && second ? denominator : 0, first != second ? denominator : 0};
        }
        made.calls.push_back(random.NextUniform() < 0.02 ? std::nullopt : std::optional(pair));
      }
      scan.variants.push_back(std::move(made));
    }
  }
  return scan;
}

void ExpectSameBits(const ResultTable& a, const ResultTable& b, const std::string& what) {
  ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
  const auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
  for (size_t v = 0; v < a.rows.size(); ++v) {
    const ResultRow& x = a.rows[v];
    const ResultRow& y = b.rows[v];
    EXPECT_EQ(x.n, y.n) << what;
    EXPECT_EQ(x.num_cases, y.num_cases) << what;
    EXPECT_EQ(x.status, y.status) << what << " " << v;
    EXPECT_EQ(x.method, y.method) << what << " " << v;
    EXPECT_EQ(bits(x.beta), bits(y.beta)) << what << " " << v;
    EXPECT_EQ(bits(x.se), bits(y.se)) << what << " " << v;
    EXPECT_EQ(bits(x.chisq), bits(y.chisq)) << what << " " << v;
    EXPECT_EQ(bits(x.log10p), bits(y.log10p)) << what << " " << v;
    EXPECT_EQ(bits(x.a1freq_cases), bits(y.a1freq_cases)) << what << " " << v;
  }
}

class BinaryInvariance : public testing::TestWithParam<BinaryCorrection> {};

TEST_P(BinaryInvariance, SameBitsForInstructionSetsAndBlocks) {
  const InMemoryScan scan = MakeBinaryScan(GetParam());
  const auto expected = scan.Run(CpuTarget::kScalar, scan.variants.size());
  size_t corrected = 0;
  for (const ResultRow& row : expected[0].rows) corrected += row.method != CorrectionMethod::kScore;
  EXPECT_EQ(corrected > 0, GetParam() != BinaryCorrection::kNone);
  for (const CpuTarget target : SupportedCpuTargets()) {
    for (const size_t width : {1ul, 7ul}) {
      const auto found = scan.Run(target, width);
      for (size_t t = 0; t < 3; ++t) {
        ExpectSameBits(found[t], expected[t], std::string(CpuTargetName(target)));
      }
    }
  }
}

TEST_P(BinaryInvariance, SameBitsAloneAndTogether) {
  const InMemoryScan scan = MakeBinaryScan(GetParam());
  const auto together = scan.Run(CpuTarget::kScalar, 5);
  for (size_t t = 0; t < 3; ++t) {
    InMemoryScan alone = scan;
    alone.cohort.traits = {scan.cohort.traits[t]};
    alone.loco = {scan.loco[t]};
    ExpectSameBits(alone.Run(CpuTarget::kScalar, 5)[0], together[t], "alone");
  }
}

TEST_P(BinaryInvariance, SameBitsAsCarrierLists) {
  const InMemoryScan scan = MakeBinaryScan(GetParam());
  InMemoryScan sparse = scan;
  for (MadeVariant& variant : sparse.variants) {
    variant.sparse = variant.denominator == 255 && !variant.phased;
  }
  const auto a = scan.Run(CpuTarget::kScalar, 6);
  const auto b = sparse.Run(CpuTarget::kScalar, 6);
  for (size_t t = 0; t < 3; ++t) ExpectSameBits(a[t], b[t], "sparse");
}

INSTANTIATE_TEST_SUITE_P(Corrections, BinaryInvariance,
                         testing::Values(BinaryCorrection::kNone,
                                         BinaryCorrection::kFirthApproximate,
                                         BinaryCorrection::kFirthExact,
                                         BinaryCorrection::kSaddlepoint));

}  // namespace
}  // namespace tallele::property

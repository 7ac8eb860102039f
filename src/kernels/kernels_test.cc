#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu_target.h"
#include "kernels/exact_products.h"

namespace tallele {
namespace {

TEST(CpuTarget, TheEnvironmentForcesAVariantAndRefusesOthers) {
  for (const CpuTarget target : SupportedCpuTargets()) {
    setenv("TALLELE_CPU_TARGET", std::string(CpuTargetName(target)).c_str(), 1);
    auto chosen = ChooseCpuTarget();
    ASSERT_TRUE(chosen.ok());
    EXPECT_EQ(*chosen, target);
  }
  setenv("TALLELE_CPU_TARGET", "sse9", 1);
  auto refused = ChooseCpuTarget();
  unsetenv("TALLELE_CPU_TARGET");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().Message().find("scalar"), std::string::npos);
  auto chosen = ChooseCpuTarget();
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(*chosen, SupportedCpuTargets().back());
}

// The variable decides which kernel multiplies, from the environment down to the function called.
TEST(CpuTarget, TheForcedVariantIsTheOneThatRan) {
  AlignedBuffer storage;
  storage.ResizeZeroed(PairRowStride(40));
  PairRows rows;
  rows.data = reinterpret_cast<const uint8_t*>(storage.data());
  rows.stride = PairRowStride(40);
  rows.num_rows = 1;
  rows.num_people = 40;
  const std::vector<double> x(40, 1.0);
  const double* columns[] = {x.data()};
  for (const CpuTarget target : SupportedCpuTargets()) {
    setenv("TALLELE_CPU_TARGET", std::string(CpuTargetName(target)).c_str(), 1);
    auto chosen = ChooseCpuTarget();
    unsetenv("TALLELE_CPU_TARGET");
    ASSERT_TRUE(chosen.ok());
    const auto q = QuantisedColumns::Quantise(*chosen, columns, 40);
    ProductScratch scratch;
    EXPECT_FALSE(scratch.executed().has_value());
    int64_t out = -1;
    MultiplyPairRows(rows, q, scratch, &out);
    EXPECT_EQ(scratch.executed(), target) << CpuTargetName(target);
    EXPECT_EQ(out, 0);
  }
}

// A target that the program has and the machine lacks is refused, not replaced.
TEST(CpuTarget, WhatTheMachineLacksIsRefused) {
  const auto supported = SupportedCpuTargets();
  for (const CpuTarget target : AllCpuTargets()) {
    if (std::find(supported.begin(), supported.end(), target) != supported.end()) continue;
    setenv("TALLELE_CPU_TARGET", std::string(CpuTargetName(target)).c_str(), 1);
    auto refused = ChooseCpuTarget();
    unsetenv("TALLELE_CPU_TARGET");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_NE(refused.error().Message().find(CpuTargetName(target)), std::string::npos);
  }
}

// A column comes back from its integers to within half a unit of the quantisation.
TEST(QuantisedColumns, KeepThirtyBits) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x(1000);
  for (double& v : x) v = 1e-7 * normal(random);
  const std::vector<double> zero(1000, 0.0);
  const double* columns[] = {x.data(), zero.data()};
  const auto q = QuantisedColumns::Quantise(CpuTarget::kScalar, columns, 1000);
  double largest = 0;
  for (const double v : x) largest = std::max(largest, std::fabs(v));
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(q.row(i)[0] * q.scale(0), x[i], 0.51 * largest / 536854528.0);
    EXPECT_EQ(q.row(i)[1], 0);
  }
  EXPECT_EQ(q.scale(1), 0);
}

}  // namespace
}  // namespace tallele

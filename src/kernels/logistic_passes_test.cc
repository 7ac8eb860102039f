// Protects: sums of the logistic model equal plain long double ones, for any number of people, and
// are the same bits on every instruction set.

#include "kernels/logistic_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tallele {
namespace {

struct People {
  std::vector<double> x, offset, y;
};

People MakePeople(size_t n) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  People out;
  for (size_t i = 0; i < n; ++i) {
    out.x.push_back(normal(random));
    out.offset.push_back(3 * normal(random) - 2);
    out.y.push_back(normal(random) > 1);
  }
  return out;
}

long double Plain(long double eta) {
  eta = std::clamp<long double>(eta, -kLargestLogit, kLargestLogit);
  return 1 / (1 + std::exp(-eta));
}

class LogisticPasses : public testing::TestWithParam<size_t> {};

TEST_P(LogisticPasses, EqualPlainSums) {
  const size_t n = GetParam();
  const People people = MakePeople(n);
  const double b = 0.7;
  long double xp = 0, xxw = 0, xxxw = 0, deviance = 0, size = 0;
  for (size_t i = 0; i < n; ++i) {
    const long double x = people.x[i];
    const long double p = Plain(people.offset[i] + b * people.x[i]);
    const long double q = Plain(-(people.offset[i] + b * people.x[i]));
    xp += x * p;
    xxw += x * x * p * q;
    xxxw += x * x * x * p * q * (0.5L - p);
    deviance -= 2 * std::log(people.y[i] > 0.5 ? p : q);
    size += 1 + std::fabs(x * x * x);
  }
  const double tolerance = static_cast<double>(size) * 1e-15;
  const LogisticSums sums =
      SumLogistic(CpuTarget::kScalar, people.x.data(), people.offset.data(), n, b);
  EXPECT_NEAR(sums.xp, static_cast<double>(xp), tolerance);
  EXPECT_NEAR(sums.xxw, static_cast<double>(xxw), tolerance);
  EXPECT_NEAR(sums.xxxw, static_cast<double>(xxxw), tolerance);
  EXPECT_NEAR(LogisticDeviance(CpuTarget::kScalar, people.x.data(), people.offset.data(),
                               people.y.data(), n, b),
              static_cast<double>(deviance), 1e-14 * static_cast<double>(deviance) + 1e-13);
}

TEST_P(LogisticPasses, SoftplusGoesOnBeyondTheBound) {
  const size_t n = GetParam();
  const People people = MakePeople(n);
  long double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const long double eta = people.offset[i] + 40.0L * people.x[i];
    sum += std::log1p(std::exp(-std::fabs(eta))) + std::max(eta, 0.0L);
  }
  const double found =
      SumSoftplus(CpuTarget::kScalar, people.x.data(), people.offset.data(), n, 40);
  EXPECT_NEAR(found, static_cast<double>(sum), 1e-13 * static_cast<double>(sum) + 1e-12);
  for (const CpuTarget target : SupportedCpuTargets()) {
    EXPECT_EQ(SumSoftplus(target, people.x.data(), people.offset.data(), n, 40), found);
  }
}

TEST_P(LogisticPasses, AreTheSameBitsOnEveryInstructionSet) {
  const size_t n = GetParam();
  const People people = MakePeople(n);
  const double* x = people.x.data();
  const double* offset = people.offset.data();
  const LogisticSums plain = SumLogistic(CpuTarget::kScalar, x, offset, n, -1.3);
  const double deviance = LogisticDeviance(CpuTarget::kScalar, x, offset, people.y.data(), n, -1.3);
  std::vector<double> p(n), w(n);
  LogisticProbabilities(CpuTarget::kScalar, offset, n, p.data(), w.data());
  for (const CpuTarget target : SupportedCpuTargets()) {
    const LogisticSums sums = SumLogistic(target, x, offset, n, -1.3);
    EXPECT_EQ(sums.xp, plain.xp);
    EXPECT_EQ(sums.xxw, plain.xxw);
    EXPECT_EQ(sums.xxxw, plain.xxxw);
    EXPECT_EQ(LogisticDeviance(target, x, offset, people.y.data(), n, -1.3), deviance);
    std::vector<double> other_p(n), other_w(n);
    LogisticProbabilities(target, offset, n, other_p.data(), other_w.data());
    EXPECT_EQ(p, other_p);
    EXPECT_EQ(w, other_w);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LogisticPasses,
                         testing::Values(0, 1, 3, 7, 8, 9, 127, 128, 129, 137, 1000, 4099));

TEST(LogisticPassesTest, ExponentialAndLogarithmAreAccurate) {
  for (double x = -700; x <= 700; x += 0.3713) {
    const double exact = static_cast<double>(std::exp(static_cast<long double>(x)));
    EXPECT_NEAR(ExpOf(x) / exact, 1, 6e-16) << x;
    EXPECT_NEAR(LogOf(exact), x, 5e-16 * std::max(1.0, std::fabs(x)));
  }
  EXPECT_EQ(ExpOf(0), 1);
  EXPECT_EQ(LogOf(1), 0);
}

TEST(LogisticPassesTest, ExtremeLogitsStayWithinTheBound) {
  const double eta[] = {1e6, -1e6, 34, -34, 0};
  double p[5], w[5];
  LogisticProbabilities(CpuTarget::kScalar, eta, 5, p, w);
  EXPECT_LT(p[0], 1);
  EXPECT_GT(p[1], 0);
  EXPECT_NEAR(p[1], 2.22e-15, 1e-16);
  EXPECT_EQ(p[2], p[0]);
  EXPECT_EQ(p[4], 0.5);
  EXPECT_EQ(w[4], 0.25);
}

}  // namespace
}  // namespace tallele

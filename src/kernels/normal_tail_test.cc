#include "kernels/normal_tail.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tallele {
namespace {

// Derived: for large x the tail is bracketed by Mills' ratio, z/(z^2+1) phi(z) < Q(z) < phi(z)/z.
TEST(ChiSquareLog10P, StaysBetweenMillsBoundsFarBeyondDoubleUnderflow) {
  for (const double z : {8.0, 15.0, 19.999, 20.001, 40.0, 100.0, 1000.0}) {
    const double log_phi = -0.5 * z * z - 0.5 * std::log(2 * M_PI);
    const double upper = -(std::log(2) + log_phi - std::log(z)) / std::log(10);
    const double lower = -(std::log(2) + log_phi + std::log(z / (z * z + 1))) / std::log(10);
    const double got = ChiSquareLog10P(z * z);
    EXPECT_GE(got, upper * (1 - 1e-14)) << z;
    EXPECT_LE(got, lower * (1 + 1e-14)) << z;
  }
}

// The usual 5 %, 1 % and 5e-8 points of chi-square with one degree of freedom (tables of the NIST
// handbook and R's qchisq, printed to ten digits).
TEST(ChiSquareLog10P, KnownPoints) {
  EXPECT_EQ(ChiSquareLog10P(0), 0);
  EXPECT_NEAR(ChiSquareLog10P(3.841458821), -std::log10(0.05), 1e-9);
  EXPECT_NEAR(ChiSquareLog10P(6.634896601), -std::log10(0.01), 1e-9);
  EXPECT_NEAR(ChiSquareLog10P(29.71679), -std::log10(5e-8), 1e-5);
}

TEST(ChiSquareLog10P, JoinsSmoothlyWhereTheFormulaChanges) {
  const double below = ChiSquareLog10P(400 - 1e-9), above = ChiSquareLog10P(400 + 1e-9);
  EXPECT_NEAR(above, below, 2e-9);
  EXPECT_GE(above, below);
}

// The quantile is the inverse of the tail: checked through erfc of the C library.
TEST(NormalQuantile, InvertsTheTail) {
  for (const double p : {1e-300, 1e-50, 1e-10, 0.001, 0.02, 0.03, 0.2, 0.5, 0.7, 0.999}) {
    const double z = NormalQuantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2.0)) / p, 1, 1e-12) << p;
  }
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(ChiSquareUpperQuantile(0.05), 3.841458820694124, 1e-13);
}

}  // namespace
}  // namespace tallele

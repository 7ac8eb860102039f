#include "kernels/normal_tail.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

struct Point {
  double argument;
  double value;
};

// Values computed offline with mpmath (Python) at 400 digits, rounded to 20: erfc and log for the
// tail, Newton's method on erfc for the quantiles, all at the exact double of the argument.
constexpr Point kLog10P[] = {
    {1e-300, 3.4651686195248404519e-151}, {1e-200, 3.4651686195248403774e-101},
    {1e-20, 3.4651686196630805405e-11},   {1e-10, 3.4651824435633312896e-6},
    {1e-06, 0.0003466551179578636452},    {0.001, 0.011096562482616877952},
    {0.05, 0.084566776710305612296},      {0.1, 0.12388056017455267814},
    {0.4549, 0.30101509028016382216},     {0.999999, 0.49851521464903268262},
    {1.0, 0.49851554582798930482},        {3.84, 1.3006521393247688233},
    {10.0, 2.8053740440709201949},        {29.7, 7.297269517568341965},
    {100.0, 22.817023409822094699},       {399.0, 88.041377246342030752},
    {401.0, 88.476752104630104996},       {1000.0, 218.7457341042050113},
    {1400.0, 305.67757094696974061},      {10000.0, 2173.5705128733703953},
    {100000000.0, 21714728.193222534241}, {1e+300, 2.1714724095162592523e+299},
};
constexpr Point kNormalQuantiles[] = {
    {1e-300, -37.047096299361199237},      {1e-50, -14.933337534788488981},
    {1e-10, -6.3613409024040561991},       {0.001, -3.0902323061678135354},
    {0.02, -2.0537489106318230443},        {0.0242, -1.9738394633131992721},
    {0.0243, -1.9720841590292884753},      {0.1, -1.2815515655446004353},
    {0.25, -0.6744897501960817432},        {0.2500001, -0.67448943550960707458},
    {0.3, -0.52440051270804081597},        {0.3999, -0.25360594929271557615},
    {0.45, -0.12566134685507400616},       {0.49, -0.025068908258711058033},
    {0.4999, -0.00025066283008800749239},  {0.49999999, -2.5066282733116223143e-8},
    {0.5000001, 2.5066282733116483012e-7}, {0.6, 0.25334710313579974132},
    {0.9, 1.2815515655446005935},          {0.999, 3.0902323061678132778},
    {0.9999999999, 6.3613408896974218642},
};
constexpr Point kChiSquareQuantiles[] = {
    {1e-300, 1373.8726312223941371},       {5e-08, 29.71678548976306263},
    {0.05, 3.8414588206941258653},         {0.5, 0.45493642311957275194},
    {0.9, 0.015790774093431217819},        {0.999, 1.5707971492624926696e-6},
    {0.999999, 1.5707963268860576707e-12},
};

// From P that rounds to 1 to tails far below the smallest double, both sides of each change of
// formula: the relative errors that the header promises.
TEST(NormalTail, RelativeErrorsAgainstFourHundredDigits) {
  for (const auto [chisq, want] : kLog10P) EXPECT_NEAR(ChiSquareLog10P(chisq) / want, 1, 2e-15);
  for (const auto [p, want] : kNormalQuantiles) EXPECT_NEAR(NormalQuantile(p) / want, 1, 2e-15);
  for (const auto [p, want] : kChiSquareQuantiles) {
    EXPECT_NEAR(ChiSquareUpperQuantile(p) / want, 1, 2e-15);
  }
  EXPECT_EQ(NormalQuantile(0.5), 0);
  EXPECT_TRUE(std::isfinite(ChiSquareLog10P(std::numeric_limits<double>::max())));
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

#include "kernels/normal_tail.h"

#include <cmath>
#include <numbers>

namespace tallele {
namespace {

// ln of the upper tail of the standard normal at z >= 0.
double LogUpperTail(double z) {
  if (z < 20) return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
  // Asymptotic series Q(z) = phi(z)/z (1 - 1/z^2 + 3/z^4 - 15/z^6 + ...), its error below the
  // first term left out: 2e-16 relative at z = 20 with eight terms.
  const double y = 1 / (z * z);
  double term = 1, sum = 1;
  for (int k = 1; k <= 8; ++k) {
    term *= -(2 * k - 1) * y;
    sum += term;
  }
  return -0.5 * z * z - std::log(z) - 0.5 * std::log(2 * std::numbers::pi) + std::log(sum);
}

double Polynomial(const double* c, int degree, double x) {
  double value = c[0];
  for (int i = 1; i <= degree; ++i) value = value * x + c[i];
  return value;
}

// Acklam's rational approximation, relative error 1.15e-9: the start of the refinement.
double RoughQuantile(double p) {
  static constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                                  -2.759285104469687e+02, 1.383577518672690e+02,
                                  -3.066479806614716e+01, 2.506628277459239e+00};
  static constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                                  -1.556989798598866e+02, 6.680131188771972e+01,
                                  -1.328068155288572e+01, 1.0};
  static constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                                  -2.400758277161838e+00, -2.549732539343734e+00,
                                  4.374664141464968e+00,  2.938163982698783e+00};
  static constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01,
                                  2.445134137142996e+00, 3.754408661907416e+00, 1.0};
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return Polynomial(kC, 5, q) / Polynomial(kD, 4, q);
  }
  const double q = p - 0.5, r = q * q;
  return Polynomial(kA, 5, r) * q / Polynomial(kB, 5, r);
}

// Quantile for p <= 1/2: z <= 0 with Phi(z) = p, by Newton steps. In the tail they go on ln Phi.
// Near the middle, where ln Phi - ln p would cancel, on erf(z / sqrt(2)) = 2p - 1, whose right side
// is exact.
double LowerQuantile(double p) {
  double z = RoughQuantile(p);
  if (p > 0.25) {
    const double wanted = 2 * (p - 0.5);
    for (int step = 0; step < 3; ++step) {
      const double excess = std::erf(z / std::numbers::sqrt2) - wanted;
      z -= 0.5 * excess * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * z * z);
    }
    return z;
  }
  for (int step = 0; step < 3; ++step) {
    const double log_tail = LogUpperTail(-z);
    const double log_density = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
    z -= (log_tail - std::log(p)) * std::exp(log_tail - log_density);
  }
  return z;
}

}  // namespace

double ChiSquareLog10P(double chisq) {
  if (!(chisq > 0)) return 0;
  // Near P = 1 the sum below would cancel: P = 1 - erf(sqrt(chisq / 2)).
  if (chisq < 1) return -std::log1p(-std::erf(std::sqrt(0.5 * chisq))) / std::numbers::ln10;
  return -(std::numbers::ln2 + LogUpperTail(std::sqrt(chisq))) / std::numbers::ln10;
}

double ChiSquareOfLog10P(double log10p) {
  if (!(log10p > 0)) return 0;
  if (log10p < 300) return ChiSquareUpperQuantile(std::pow(10, -log10p));
  // ln of both tails is ln 2 + ln Q(z), nearly -z^2/2: its slope is -z - 1/z + ..., so Newton's
  // steps converge from above.
  const double wanted = -log10p * std::numbers::ln10 - std::numbers::ln2;
  double z = std::sqrt(-2 * wanted);
  for (int step = 0; step < 20; ++step) {
    const double log_tail = LogUpperTail(z);
    const double log_density = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
    const double change = (log_tail - wanted) * std::exp(log_tail - log_density);
    z += change;
    if (std::fabs(change) < 1e-14 * z) break;
  }
  return z * z;
}

double NormalLogUpperTail(double z) {
  if (z >= 0) return LogUpperTail(z);
  return std::log1p(-0.5 * std::erfc(-z / std::numbers::sqrt2));
}

double NormalQuantile(double p) { return p <= 0.5 ? LowerQuantile(p) : -LowerQuantile(1 - p); }

double ChiSquareUpperQuantile(double p) {
  if (p >= 1) return 0;
  const double z = LowerQuantile(p / 2);
  return z * z;
}

}  // namespace tallele

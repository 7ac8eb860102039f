#include "ancestry/model/fixed_math.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace tallele {
namespace {

// ln 2 in two parts; the first has 33 significant bits, so multiples up to 2^11 are exact.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kLog2E = 1.44269504088896338700;

// 1/n! for n = 0 .. 17.
constexpr double kInverseFactorial[] = {1.0,
                                        1.0,
                                        1.0 / 2,
                                        1.0 / 6,
                                        1.0 / 24,
                                        1.0 / 120,
                                        1.0 / 720,
                                        1.0 / 5040,
                                        1.0 / 40320,
                                        1.0 / 362880,
                                        1.0 / 3628800,
                                        1.0 / 39916800,
                                        1.0 / 479001600,
                                        1.0 / 6227020800,
                                        1.0 / 87178291200,
                                        1.0 / 1307674368000,
                                        1.0 / 20922789888000,
                                        1.0 / 355687428096000};

// Taylor polynomial of exp(r) - 1: |r| <= 0.35 needs 13 terms (0.35^14 / 14! < 5e-18), |r| <= 0.7
// needs 17 (0.7^18 / 18! < 3e-19).
template <int kTerms>
double ExpMinusOne(double r) {
  double sum = kInverseFactorial[kTerms];
  for (int n = kTerms - 1; n >= 1; --n) sum = sum * r + kInverseFactorial[n];
  return sum * r;
}

double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace

double FixedExp(double x) {
  if (x != x) return x;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  if (x < -745) return 0;
  const double scaled = x * kLog2E;
  const int k = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const double r = x - k * kLn2High - k * kLn2Low;
  const double value = 1 + ExpMinusOne<13>(r);
  const int half = k / 2;  // 2^k itself may be subnormal or too large
  return value * PowerOfTwo(half) * PowerOfTwo(k - half);
}

double FixedTanh(double x) {
  if (x != x) return x;
  const double size = x < 0 ? -x : x;
  double value;
  if (size < 0.35) {
    const double e = ExpMinusOne<17>(2 * size);
    value = e / (e + 2);
  } else if (size < 22) {
    value = 1 - 2 / (FixedExp(2 * size) + 1);
  } else {
    value = 1;  // 2 exp(-44) is below half of the last bit
  }
  return x < 0 ? -value : value;
}

double FixedLog(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172: s^2 < 0.03, and 0.03^12 < 1e-18.
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int n = 23; n >= 1; n -= 2) sum = sum * s2 + 1.0 / n;
  return exponent * kLn2High + (2 * s * sum + exponent * kLn2Low);
}

}  // namespace tallele

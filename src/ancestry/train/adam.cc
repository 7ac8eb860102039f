#include "ancestry/train/adam.h"

#include <cmath>

namespace tallele {
namespace {

constexpr double kFirstDecay = 0.9;
constexpr double kSecondDecay = 0.999;
constexpr float kEpsilon = 1e-8f;

// beta^step by repeated squaring: the C library's pow may differ between machines.
double Power(double base, int64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) power *= base;
  }
  return power;
}

}  // namespace

void AdamStep(double rate, int64_t step, const std::vector<FloatTable*>& parameters,
              const std::vector<FloatTable*>& gradients, const std::vector<FloatTable*>& first,
              const std::vector<FloatTable*>& second) {
  const auto size = static_cast<float>(rate / (1 - Power(kFirstDecay, step)));
  const auto root = static_cast<float>(std::sqrt(1 - Power(kSecondDecay, step)));
  constexpr auto kKeepFirst = static_cast<float>(kFirstDecay);
  constexpr auto kKeepSecond = static_cast<float>(kSecondDecay);
  constexpr auto kAddFirst = static_cast<float>(1 - kFirstDecay);
  constexpr auto kAddSecond = static_cast<float>(1 - kSecondDecay);
  for (size_t t = 0; t < parameters.size(); ++t) {
    float* p = parameters[t]->all().data();
    const float* g = gradients[t]->all().data();
    float* m = first[t]->all().data();
    float* v = second[t]->all().data();
    const size_t count = parameters[t]->all().size();
    for (size_t i = 0; i < count; ++i) {
      m[i] = kKeepFirst * m[i] + kAddFirst * g[i];
      v[i] = kKeepSecond * v[i] + kAddSecond * g[i] * g[i];
      p[i] -= size * (m[i] / (std::sqrt(v[i]) / root + kEpsilon));
    }
  }
}

}  // namespace tallele

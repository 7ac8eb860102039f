#include "kernels/logistic_passes.h"

#include <cstdint>
#include <cstring>

#include "kernels/logistic_passes_avx2.h"

namespace tallele {
namespace {

#include "kernels/logistic_passes-inl.h"

bool HasAvx2(CpuTarget target) { return target != CpuTarget::kScalar; }

}  // namespace

LogisticSums SumLogistic(CpuTarget target, const double* x, const double* offset, size_t num_people,
                         double b) {
  return HasAvx2(target) ? kernels::SumLogisticAvx2(x, offset, num_people, b)
                         : PassOver(x, offset, num_people, b);
}

double LogisticDeviance(CpuTarget target, const double* x, const double* offset, const double* y,
                        size_t num_people, double b) {
  return HasAvx2(target) ? kernels::LogisticDevianceAvx2(x, offset, y, num_people, b)
                         : DevianceOver(x, offset, y, num_people, b);
}

double SumSoftplus(CpuTarget target, const double* x, const double* offset, size_t num_people,
                   double b) {
  return HasAvx2(target) ? kernels::SumSoftplusAvx2(x, offset, num_people, b)
                         : SoftplusOver(x, offset, num_people, b);
}

void LogisticProbabilities(CpuTarget target, const double* eta, size_t num_people, double* p,
                           double* w) {
  if (HasAvx2(target)) {
    kernels::LogisticProbabilitiesAvx2(eta, num_people, p, w);
  } else {
    ProbabilitiesOf(eta, num_people, p, w);
  }
}

double ExpOf(double x) {
  const Exponential e = SplitExp(Splat(x));
  return (e.scale * (e.numerator / e.denominator))[0];
}

double LogOf(double x) { return Logarithm(x); }

}  // namespace tallele

#include "kernels/logistic_passes_avx2.h"

#include <cstdint>
#include <cstring>

namespace tallele::kernels {
namespace {

#include "kernels/logistic_passes-inl.h"

}  // namespace

LogisticSums SumLogisticAvx2(const double* x, const double* offset, size_t num_people, double b) {
  return PassOver(x, offset, num_people, b);
}

double LogisticDevianceAvx2(const double* x, const double* offset, const double* y,
                            size_t num_people, double b) {
  return DevianceOver(x, offset, y, num_people, b);
}

double SumSoftplusAvx2(const double* x, const double* offset, size_t num_people, double b) {
  return SoftplusOver(x, offset, num_people, b);
}

void LogisticProbabilitiesAvx2(const double* eta, size_t num_people, double* p, double* w) {
  ProbabilitiesOf(eta, num_people, p, w);
}

}  // namespace tallele::kernels

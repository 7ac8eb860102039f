#ifndef TALLELE_KERNELS_LOGISTIC_PASSES_AVX2_H_
#define TALLELE_KERNELS_LOGISTIC_PASSES_AVX2_H_

#include "kernels/logistic_passes.h"

namespace tallele::kernels {

// The passes of logistic_passes.h, compiled for AVX2.
LogisticSums SumLogisticAvx2(const double* x, const double* offset, size_t num_people, double b);
double LogisticDevianceAvx2(const double* x, const double* offset, const double* y,
                            size_t num_people, double b);
double SumSoftplusAvx2(const double* x, const double* offset, size_t num_people, double b);
void LogisticProbabilitiesAvx2(const double* eta, size_t num_people, double* p, double* w);

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_LOGISTIC_PASSES_AVX2_H_

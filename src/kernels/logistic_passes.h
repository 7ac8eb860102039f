#ifndef TALLELE_KERNELS_LOGISTIC_PASSES_H_
#define TALLELE_KERNELS_LOGISTIC_PASSES_H_

#include <cstddef>

#include "kernels/cpu_target.h"

namespace tallele {

// Passes over people of a logistic model with one regressor x and offset o:
//   eta = o + b x, p = 1 / (1 + exp(-eta)), w = p (1 - p).
// eta is held within +-kLargestLogit, where p is 10 machine epsilons from 0 or 1 (REGENIE 4.1.2's
// bound). Everything runs in eight lanes that are joined in one order, with an exponential and a
// logarithm of our own: the same bits on every machine and instruction set.
inline constexpr double kLargestLogit = 33.744;  // ln(1 / (10 * 2^-52))

// Sums over all people at one b.
struct LogisticSums {
  double xp = 0;    // sum of x p
  double xxw = 0;   // sum of x^2 w
  double xxxw = 0;  // sum of x^3 w (0.5 - p)
};
LogisticSums SumLogistic(CpuTarget target, const double* x, const double* offset, size_t num_people,
                         double b);

// -2 log likelihood at b; y is 0 or 1. `x` may be null: eta = offset.
double LogisticDeviance(CpuTarget target, const double* x, const double* offset, const double* y,
                        size_t num_people, double b);

// Sum of ln(1 + exp(eta)), for any eta.
double SumSoftplus(CpuTarget target, const double* x, const double* offset, size_t num_people,
                   double b);

// p and w of every eta.
void LogisticProbabilities(CpuTarget target, const double* eta, size_t num_people, double* p,
                           double* w);

// The same exponential for one number, |x| <= 700; relative error below 4e-16.
double ExpOf(double x);
// Natural logarithm of a positive normal number; error below 4e-16 of max(1, |result|).
double LogOf(double x);

}  // namespace tallele

#endif  // TALLELE_KERNELS_LOGISTIC_PASSES_H_

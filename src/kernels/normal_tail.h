#ifndef TALLELE_KERNELS_NORMAL_TAIL_H_
#define TALLELE_KERNELS_NORMAL_TAIL_H_

namespace tallele {

// -log10 of the upper tail of chi-square with one degree of freedom, finite for every
// finite `chisq` >= 0: -(ln 2 + ln Phi(-sqrt(chisq))) / ln 10. Relative error < 1e-13.
double ChiSquareLog10P(double chisq);

// The inverse: x >= 0 with ChiSquareLog10P(x) = log10p, for any log10p >= 0.
double ChiSquareOfLog10P(double log10p);

// ln of the upper tail of the standard normal at any finite z. Relative error < 1e-13.
double NormalLogUpperTail(double z);

// Quantile of the standard normal distribution, 0 < p < 1. Relative error < 1e-14.
double NormalQuantile(double p);

// Upper quantile of chi-square with one degree of freedom: x with P(X > x) = p.
double ChiSquareUpperQuantile(double p);

}  // namespace tallele

#endif  // TALLELE_KERNELS_NORMAL_TAIL_H_

#ifndef TALLELE_ANCESTRY_MODEL_FIXED_MATH_H_
#define TALLELE_ANCESTRY_MODEL_FIXED_MATH_H_

namespace tallele {

// Elementary functions made of additions, multiplications and divisions in a fixed order only, so
// they give the same bits on every machine; the C library picks other code for CPUs with FMA.
// Relative error below 1e-15 (FixedLog: below 1e-15 of max(1, |log x|)).

// 0 below -745, infinity above 709.78; NaN for NaN.
double FixedExp(double x);
double FixedTanh(double x);
// Of a positive, normal x.
double FixedLog(double x);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_FIXED_MATH_H_

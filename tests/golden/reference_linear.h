#ifndef TALLELE_TESTS_GOLDEN_REFERENCE_LINEAR_H_
#define TALLELE_TESTS_GOLDEN_REFERENCE_LINEAR_H_

#include <optional>
#include <span>
#include <vector>

namespace tallele::golden {

// The linear score test from its definition, one trait and one variant at a time, in long
// double (docs/statistics/linear-score-test.md). It shares no code with the engine.
using Real = long double;

// One trait over its own people.
struct ReferenceNull {
  std::vector<std::vector<Real>> basis;  // orthonormal, intercept included
  std::vector<Real> r;                   // residual / scale - loco
  Real scale = 0;
  Real mse = 0;
};

// `covariates[c]`, `trait` and `loco` (may be empty: zeros) are over the trait's people.
ReferenceNull FitReferenceNull(std::span<const std::vector<double>> covariates,
                               std::span<const double> trait, std::span<const double> loco);

struct ReferenceRow {
  int n = 0;
  Real a1freq = 0;
  Real beta = 0, se = 0, chisq = 0;
};

// `dosage` of the effect allele over the same people; nothing = no call.
ReferenceRow TestReferenceVariant(const ReferenceNull& null,
                                  std::span<const std::optional<Real>> dosage);

}  // namespace tallele::golden

#endif  // TALLELE_TESTS_GOLDEN_REFERENCE_LINEAR_H_

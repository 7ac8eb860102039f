#ifndef TALLELE_ASSOC_LOGISTIC_NULL_H_
#define TALLELE_ASSOC_LOGISTIC_NULL_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assoc/masked_design.h"
#include "kernels/cpu_target.h"

namespace tallele {

// A fitted logistic model: logit P(y = 1) = offset + z a. Everything is over the design's people.
struct LogisticFit {
  std::string problem;               // why there is none; empty: converged
  std::vector<double> coefficients;  // [rank] a
  std::vector<double> eta;           // [m]
  std::vector<double> p;             // [m]
  std::vector<double> w;             // [m] p (1 - p)
  std::vector<double> inverse_root;  // [rank][rank] G with (z'Wz)^-1 = G G'
  double deviance = 0;
  int iterations = 0;

  bool converged() const { return problem.empty(); }
};

// Maximum likelihood by Newton steps with halving on the deviance, from the intercept that fits the
// case count given the offset. Ends when no logit moves by more than 1e-9, at most `max_iterations`
// steps. Separation (logits that run away while the score vanishes) is a problem that is named.
// `y` is 0 or 1; `offset` is finite.
LogisticFit FitLogisticNull(CpuTarget target, const MaskedDesign& design, std::span<const double> y,
                            std::span<const double> offset, int max_iterations);

}  // namespace tallele

#endif  // TALLELE_ASSOC_LOGISTIC_NULL_H_

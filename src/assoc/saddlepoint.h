#ifndef TALLELE_ASSOC_SADDLEPOINT_H_
#define TALLELE_ASSOC_SADDLEPOINT_H_

#include <span>

#include "kernels/cpu_target.h"

namespace tallele {

// A score test whose null distribution is to be approximated: S = sum of x (y - p) with y
// Bernoulli.
struct SaddlepointInputs {
  // People who are summed exactly: everyone, or the carriers.
  std::span<const double> x;    // covariate-adjusted genotype
  std::span<const double> eta;  // logit of p
  double score = 0;             // S, over everyone
  double variance = 0;          // of S, over everyone
  bool carriers_only = false;   // the others are a normal with the variance that is left
};

enum class SaddlepointOutcome : unsigned char {
  kBothTails,
  kNearTailAlone,  // the far tail is below 1e-20 of the near one, by a bound
  kFailed,
};

struct SaddlepointResult {
  SaddlepointOutcome outcome = SaddlepointOutcome::kFailed;
  double log_p = 0;  // natural logarithm of the two-sided p-value
};

// P(|S| >= |score|) by the saddlepoint of each tail (Barndorff-Nielsen's form of the
// Lugannani-Rice formula), REGENIE 4.1.2's test (regenie.md 2.8). A tail whose saddlepoint cannot
// be found is dropped only when Chernoff's bound exp(K(t) - t s), or the end of what S can reach,
// shows that it does not matter.
SaddlepointResult TestBySaddlepoint(CpuTarget target, const SaddlepointInputs& inputs);

}  // namespace tallele

#endif  // TALLELE_ASSOC_SADDLEPOINT_H_

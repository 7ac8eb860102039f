#ifndef TALLELE_ASSOC_VARIANT_FIRTH_H_
#define TALLELE_ASSOC_VARIANT_FIRTH_H_

#include <span>

#include "assoc/binary_options.h"
#include "kernels/cpu_target.h"

namespace tallele {

// How a fit of one candidate ended.
enum class FirthStage : unsigned char { kPseudoData, kNewton, kFailed };

struct FirthEstimate {
  FirthStage stage = FirthStage::kFailed;
  double beta = 0;
  double se = 0;   // information^(-1/2) at the estimate
  double lrt = 0;  // D(0) - D(beta) >= 0

  bool converged() const { return stage != FirthStage::kFailed; }
};

// One candidate of the approximate test: everything over the people whose sums are taken (all of a
// trait's, or its carriers).
struct FirthCandidate {
  std::span<const double> x;       // covariate-adjusted genotype
  std::span<const double> offset;  // of the null Firth model
  std::span<const double> y;       // 0 or 1
  bool carriers_only = false;      // more pseudo-data steps are allowed then
};

// REGENIE 4.1.2's approximate Firth test (regenie.md 2.9): one free coefficient b beside a fixed
// offset, D(b) = -2 l(b) - ln sum x^2 w. First pseudo-data steps from b = 0, then Newton steps from
// b = 0 whose halved steps must lower D. No convergence, or D(0) < D(b), is a failure.
FirthEstimate FitVariantFirth(CpuTarget target, const FirthCandidate& candidate,
                              const FirthLimits& limits);

}  // namespace tallele

#endif  // TALLELE_ASSOC_VARIANT_FIRTH_H_

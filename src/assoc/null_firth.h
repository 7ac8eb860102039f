#ifndef TALLELE_ASSOC_NULL_FIRTH_H_
#define TALLELE_ASSOC_NULL_FIRTH_H_

#include <span>
#include <string>
#include <vector>

#include "assoc/binary_options.h"
#include "assoc/masked_design.h"
#include "kernels/cpu_target.h"

namespace tallele {

// Which attempt of REGENIE 4.1.2's sequence (regenie.md 2.9) gave the null Firth model.
enum class NullFirthAttempt {
  kFromLogistic,      // start at the null logistic estimate
  kPseudoData,        // pseudo-data steps after a failed attempt
  kFromIntercept,     // start at minus the mean offset
  kSmallSteps,        // step / 5, iterations x 5
  kWithoutEarlyStop,  // the first start again, however often the score grows
};

struct NullFirthFit {
  std::string problem;  // why there is none; empty: converged
  NullFirthAttempt attempt = NullFirthAttempt::kFromLogistic;
  std::vector<double> coefficients;  // [rank]
  std::vector<double> offset;        // [m] offset + z a: what the variants' fits start from
  int iterations = 0;                // of the attempt that converged

  bool converged() const { return problem.empty(); }
};

struct NullFirthInputs {
  const MaskedDesign* design = nullptr;
  std::span<const double> y;       // [m] 0 or 1
  std::span<const double> offset;  // [m] LOCO prediction on the logit scale
  std::vector<double> start;       // [rank] null logistic estimate, or the user's values
};

// Maximises the likelihood penalised by half ln det of the information, covariates alone.
NullFirthFit FitNullFirth(CpuTarget target, const NullFirthInputs& inputs,
                          const NullFirthLimits& limits);

}  // namespace tallele

#endif  // TALLELE_ASSOC_NULL_FIRTH_H_

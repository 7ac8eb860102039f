#ifndef TALLELE_ASSOC_EXACT_FIRTH_H_
#define TALLELE_ASSOC_EXACT_FIRTH_H_

#include <span>

#include "assoc/binary_options.h"
#include "assoc/masked_design.h"
#include "assoc/variant_firth.h"
#include "kernels/cpu_target.h"

namespace tallele {

struct ExactFirthInputs {
  const MaskedDesign* design = nullptr;
  std::span<const double> genotype;  // [m]
  std::span<const double> y;         // [m] 0 or 1
  std::span<const double> offset;    // [m] LOCO prediction on the logit scale
  std::span<const double> start;     // [rank] null logistic estimate
};

// Firth regression of covariates and variant together. The null model holds the variant's
// coefficient at zero but keeps the variant in the information matrix; LRT = D(null) - D(full).
// Pseudo-data steps first, then Newton steps (regenie.md 2.9).
FirthEstimate FitExactFirth(CpuTarget target, const ExactFirthInputs& inputs,
                            const FirthLimits& limits);

}  // namespace tallele

#endif  // TALLELE_ASSOC_EXACT_FIRTH_H_

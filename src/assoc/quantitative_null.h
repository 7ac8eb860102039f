#ifndef TALLELE_ASSOC_QUANTITATIVE_NULL_H_
#define TALLELE_ASSOC_QUANTITATIVE_NULL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assoc/covariate_basis.h"
#include "assoc/sample_group.h"
#include "kernels/exact_products.h"

namespace tallele {

// A quantitative trait without its covariates, over the people of one group.
struct ResidualTrait {
  std::shared_ptr<const SampleGroup> group;
  std::vector<double> residual;  // [base] (y - X beta) / scale; 0 outside the mask
  double scale = 0;              // ||y - X beta|| / sqrt(n - K), K the rank within the mask
  std::string problem;           // why there is none: too few people, in the covariate span
};

// Residuals of `values` ([base]; only the group's people are read, all finite there).
// Projection by the group's factor, repeated until the quantisation of the covariates no longer
// matters. Sums run over base people in ascending order.
ResidualTrait ResidualiseTrait(std::span<const double> values, const CovariateBasis& basis,
                               std::span<const double> covariate_scales,
                               std::shared_ptr<const SampleGroup> group);

// r = residual - loco, REGENIE's step 2 (regenie.md 2.3): not projected again.
struct ScoreResidual {
  std::vector<double> values;  // [base], 0 outside the mask
  double mse = 0;              // r'r / (n - K)
};
// `loco` may be empty: no predictions.
ScoreResidual SubtractLoco(const ResidualTrait& trait, std::span<const double> loco);

}  // namespace tallele

#endif  // TALLELE_ASSOC_QUANTITATIVE_NULL_H_

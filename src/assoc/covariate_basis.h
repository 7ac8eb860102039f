#ifndef TALLELE_ASSOC_COVARIATE_BASIS_H_
#define TALLELE_ASSOC_COVARIATE_BASIS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// Orthonormal basis of the space that an intercept and the covariates span over the base set.
// Column 0 is the constant 1/sqrt(n), exactly the same number for everyone.
struct CovariateBasis {
  size_t num_people = 0;
  std::vector<std::vector<double>> columns;  // [rank][base]
  std::vector<std::string> dropped;          // covariates that the others determine

  size_t rank() const { return columns.size(); }
};

// Centres and scales every covariate, then Householder QR with column pivoting in float64: a
// covariate's origin and unit do not matter. A column is dropped when less than 1e-9 of it (or
// less than the rounding of its own values) is left beside the others. One thread, one fixed
// order. `covariates[c]` holds one finite value per base person. Errors: an empty base set.
Result<CovariateBasis> BuildCovariateBasis(std::span<const std::vector<double>> covariates,
                                           std::span<const std::string> names, size_t num_people);

}  // namespace tallele

#endif  // TALLELE_ASSOC_COVARIATE_BASIS_H_

#ifndef TALLELE_ASSOC_MASKED_DESIGN_H_
#define TALLELE_ASSOC_MASKED_DESIGN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assoc/covariate_basis.h"
#include "assoc/sample_group.h"
#include "assoc/scan_axis.h"

namespace tallele {

// The covariates of one mask as orthonormal columns over the mask's people alone, in ascending base
// order: the axis of everything that is fitted for a trait. It does not depend on other traits.
struct MaskedDesign {
  std::vector<uint32_t> base;   // [m] base positions
  std::vector<uint32_t> block;  // [m] block positions
  size_t rank = 0;
  std::vector<double> z;       // [rank][m]; z = X factor, z'z = 1
  std::vector<double> factor;  // [basis columns][rank]

  size_t num_people() const { return base.size(); }
};

// `covariate_scales`: of the quantised basis that the group's factor was made of.
MaskedDesign MakeMaskedDesign(const CovariateBasis& basis, std::span<const double> covariate_scales,
                              const SampleGroup& group, const ScanAxis& axis);

}  // namespace tallele

#endif  // TALLELE_ASSOC_MASKED_DESIGN_H_

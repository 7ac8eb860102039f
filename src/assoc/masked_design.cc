#include "assoc/masked_design.h"

namespace tallele {

MaskedDesign MakeMaskedDesign(const CovariateBasis& basis, std::span<const double> covariate_scales,
                              const SampleGroup& group, const ScanAxis& axis) {
  MaskedDesign design;
  design.rank = group.rank;
  design.base.reserve(group.num_people);
  for (size_t b = 0; b < axis.block_of_base.size(); ++b) {
    if (!group.mask.Contains(b)) continue;
    design.base.push_back(static_cast<uint32_t>(b));
    design.block.push_back(axis.block_of_base[b]);
  }
  design.factor.assign(basis.rank() * group.rank, 0);
  for (size_t c = 0; c < basis.rank(); ++c) {
    if (covariate_scales[c] == 0) continue;
    for (size_t e = 0; e < group.rank; ++e) {
      design.factor[c * group.rank + e] = group.factor[c * group.rank + e] / covariate_scales[c];
    }
  }
  const size_t m = design.num_people();
  design.z.assign(group.rank * m, 0);
  for (size_t e = 0; e < group.rank; ++e) {
    double* z = design.z.data() + e * m;
    for (size_t c = 0; c < basis.rank(); ++c) {
      const double weight = design.factor[c * group.rank + e];
      const std::vector<double>& column = basis.columns[c];
      for (size_t i = 0; i < m; ++i) z[i] += weight * column[design.base[i]];
    }
  }
  return design;
}

}  // namespace tallele

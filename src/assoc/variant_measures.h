#ifndef TALLELE_ASSOC_VARIANT_MEASURES_H_
#define TALLELE_ASSOC_VARIANT_MEASURES_H_

#include <cstddef>

#include "genotype/variant_block.h"

namespace tallele {

// What the rows of a variant say besides the test, over one group's people with a call.
struct VariantMeasures {
  int64_t num_called = 0;
  double first_frequency = 0;  // sum of dosages / (2 N); 0 without calls
  double second_frequency = 0;
  double minor_allele_count = 0;
  double impute_info = 0;  // see below; NaN for hard calls
  double info_ratio = 0;   // NaN where the expected variance is 0
};

// `denominator`: D. `males`: moments of the males outside the pseudo-autosomal regions, whose
// alleles count half in the minor allele count (not in the frequency), or null.
//
//   INFO  = 1 - sum Var(copies) / (f (1-f) (2 N_diploid + N_haploid)), 1 when monomorphic
//   ratio = (sum d^2 - (sum d)^2 / N) / (2 N f (1-f))
VariantMeasures MeasureVariant(const VariantMoments& moments, double denominator,
                               bool has_probabilities, const VariantMoments* males);

}  // namespace tallele

#endif  // TALLELE_ASSOC_VARIANT_MEASURES_H_

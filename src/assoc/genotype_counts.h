#ifndef TALLELE_ASSOC_GENOTYPE_COUNTS_H_
#define TALLELE_ASSOC_GENOTYPE_COUNTS_H_

#include <cstdint>
#include <span>

#include "genotype/variant_block.h"
#include "results/result_table.h"

namespace tallele {

// Counts `people` (block positions) with a call by the whole number nearest to their dosage of the
// effect allele, halves rounded up. `y` tells cases (1) from controls (0); empty: everyone counts
// as a case.
GenotypeCounts CountNearestGenotypes(const VariantBlock& block, const DecodedVariant& variant,
                                     bool effect_is_second, std::span<const uint32_t> people,
                                     std::span<const double> y);

}  // namespace tallele

#endif  // TALLELE_ASSOC_GENOTYPE_COUNTS_H_

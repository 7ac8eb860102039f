#ifndef TALLELE_ASSOC_LIST_MOMENTS_H_
#define TALLELE_ASSOC_LIST_MOMENTS_H_

#include "assoc/sample_group.h"
#include "genotype/variant_block.h"
#include "kernels/pair_rows.h"

namespace tallele {

// Exact moments of `variant` over the people of `list`. `gathered`: moments of the variant's
// first row over the same people if they are at hand (see BlockSums), else null.
VariantMoments MomentsOverList(const VariantBlock& block, const DecodedVariant& variant,
                               const PersonList& list, const PairMoments* gathered);

}  // namespace tallele

#endif  // TALLELE_ASSOC_LIST_MOMENTS_H_

#ifndef TALLELE_ASSOC_LIST_MOMENTS_H_
#define TALLELE_ASSOC_LIST_MOMENTS_H_

#include "assoc/sample_group.h"
#include "genotype/variant_block.h"
#include "kernels/pair_rows.h"

namespace tallele {

// Sums of one list's people for one variant, as far as they come for nothing with other work.
struct ListTally {
  PairMoments pairs;        // of the variant's stored pairs
  int64_t num_missing = 0;  // people of the list without a call
};

// True when a variant's moments follow from the sums of its pairs: one plane, unphased, nobody
// haploid.
bool MomentsFollowFromPairs(const DecodedVariant& variant);

// Exact moments of `variant` over the people of `list`. With `tally_is_complete` they are taken
// from `tally` where they follow from it, else everyone in the list is visited.
VariantMoments MomentsOverList(const VariantBlock& block, const DecodedVariant& variant,
                               const PersonList& list, const ListTally& tally,
                               bool tally_is_complete);

// Adds a person's pair (or the pair of `times` people) to sums.
void AddPair(uint16_t pair, int64_t times, PairMoments& sums);

}  // namespace tallele

#endif  // TALLELE_ASSOC_LIST_MOMENTS_H_

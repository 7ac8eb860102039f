#include "assoc/list_moments.h"

namespace tallele {

void AddPair(uint16_t pair, int64_t times, PairMoments& sums) {
  const int64_t b0 = pair & 255;
  const int64_t b1 = pair >> 8;
  const int64_t t = 2 * b0 + b1;
  sums.sum_b += times * (b0 + b1);
  sums.sum_t += times * t;
  sums.sum_t2 += times * t * t;
}

bool MomentsFollowFromPairs(const DecodedVariant& variant) {
  return variant.kind == CallKind::kUnphased && variant.haploid.empty() && variant.num_planes == 1;
}

VariantMoments MomentsOverList(const VariantBlock& block, const DecodedVariant& variant,
                               const PersonList& list, const ListTally& tally,
                               bool tally_is_complete) {
  if (!tally_is_complete || !MomentsFollowFromPairs(variant))
    return SubsetMoments(block, variant, list.people);
  return UnphasedMoments(variant.denominator, tally.pairs,
                         static_cast<int64_t>(list.people.size()) - tally.num_missing);
}

}  // namespace tallele

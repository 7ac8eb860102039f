#include "assoc/list_moments.h"

namespace tallele {
namespace {

// Unphased and diploid: sum of D(4 a0 + a1) - t^2, where sum a0 = sum_t - sum_b and
// sum a1 = 2 sum_b - sum_t.
VariantMoments FromPairMoments(const DecodedVariant& variant, const PairMoments& pairs) {
  VariantMoments out;
  out.sum_t = pairs.sum_t;
  out.sum_t2 = pairs.sum_t2;
  out.sum_variance =
      static_cast<__int128>(variant.denominator) * (3 * pairs.sum_t - 2 * pairs.sum_b) -
      pairs.sum_t2;
  return out;
}

void AddPair(uint16_t pair, int64_t times, PairMoments& sums) {
  const int64_t b0 = pair & 255;
  const int64_t b1 = pair >> 8;
  const int64_t t = 2 * b0 + b1;
  sums.sum_b += times * (b0 + b1);
  sums.sum_t += times * t;
  sums.sum_t2 += times * t * t;
}

PairMoments SparseMoments(const DecodedVariant& variant, const PersonList& list) {
  PairMoments sums;
  int64_t carriers = 0;
  for (size_t i = 0; i < variant.carriers.size(); ++i) {
    if (!list.members.Contains(variant.carriers[i])) continue;
    ++carriers;
    AddPair(variant.carrier_pairs[i], 1, sums);
  }
  AddPair(variant.baseline, static_cast<int64_t>(list.people.size()) - carriers, sums);
  return sums;
}

}  // namespace

VariantMoments MomentsOverList(const VariantBlock& block, const DecodedVariant& variant,
                               const PersonList& list, const PairMoments* gathered) {
  const bool simple =
      variant.kind == CallKind::kUnphased && variant.haploid.empty() && variant.num_planes == 1;
  if (!simple || (!variant.is_sparse && gathered == nullptr)) {
    return SubsetMoments(block, variant, list.people);
  }
  VariantMoments out =
      FromPairMoments(variant, variant.is_sparse ? SparseMoments(variant, list) : *gathered);
  out.num_called = static_cast<int64_t>(list.people.size() - list.members.CountOf(variant.missing));
  return out;
}

}  // namespace tallele

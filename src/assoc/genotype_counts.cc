#include "assoc/genotype_counts.h"

#include <algorithm>

namespace tallele {

GenotypeCounts CountNearestGenotypes(const VariantBlock& block, const DecodedVariant& variant,
                                     bool effect_is_second, std::span<const uint32_t> people,
                                     std::span<const double> y) {
  GenotypeCounts counts;
  const uint64_t denominator = variant.denominator;
  const bool phased = variant.kind == CallKind::kPhased;
  auto missing = variant.missing.begin();
  for (size_t i = 0; i < people.size(); ++i) {
    while (missing != variant.missing.end() && *missing < people[i]) ++missing;
    if (missing != variant.missing.end() && *missing == people[i]) continue;
    const StoredPair pair = PairOf(block, variant, people[i]);
    const uint64_t first = phased ? uint64_t{pair.a0} + pair.a1 : 2 * uint64_t{pair.a0} + pair.a1;
    const uint64_t effect = effect_is_second ? 2 * denominator - first : first;
    const uint64_t nearest = std::min<uint64_t>(2, (2 * effect + denominator) / (2 * denominator));
    const bool is_case = y.empty() || y[i] > 0.5;
    ++(is_case ? counts.cases : counts.controls)[nearest];
  }
  return counts;
}

}  // namespace tallele

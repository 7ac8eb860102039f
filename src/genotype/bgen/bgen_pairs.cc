#include "genotype/bgen/bgen_pairs.h"

#include <algorithm>

#include "kernels/pair_rows.h"

namespace tallele::bgen {
namespace {

// Loops over chunks of a constant length are turned into vector code at -O2.
constexpr size_t kChunk = 64;

uint32_t LoadBits(const uint8_t* data, uint64_t bit, uint64_t mask) {
  uint64_t word;
  std::memcpy(&word, data + (bit >> 3), 8);
  return static_cast<uint32_t>(word >> (bit & 7) & mask);
}

// Everyone diploid and whole bytes: no bits to shift. Returns the largest sum of a pair.
template <typename Word>
uint64_t ReadWordPairs(const uint8_t* values, std::span<StoredPair> pairs) {
  uint32_t largest = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    Word pair[2];
    std::memcpy(pair, values + i * sizeof(pair), sizeof(pair));
    pairs[i] = {pair[0], pair[1]};
    largest = std::max(largest, uint32_t{pair[0]} + pair[1]);
  }
  return largest;
}

// Any depth, each sample with its own number of copies; branches would be mispredicted where
// men and women alternate.
uint64_t ReadMixedPairs(const StoredCalls& calls, std::span<StoredPair> pairs) {
  const uint64_t mask = (uint64_t{1} << calls.bits) - 1;
  const auto bits = static_cast<uint64_t>(calls.bits);
  uint64_t largest = 0, bit = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const uint64_t ploidy = calls.ploidies[i] & kPloidyMask;
    const uint64_t has_first = 0 - static_cast<uint64_t>(ploidy > 0);
    const uint64_t has_second = 0 - static_cast<uint64_t>(ploidy > 1);
    pairs[i].a0 = LoadBits(calls.values, bit, mask & has_first);
    pairs[i].a1 = LoadBits(calls.values, bit + bits, mask & has_second);
    largest = std::max(largest, uint64_t{pairs[i].a0} + pairs[i].a1);
    bit += bits * ploidy;
  }
  return largest;
}

// `Sum` must hold the squares of everyone's t.
template <typename Sum, CallKind kKind>
VariantMoments SumDiploid(uint32_t denominator, std::span<const StoredPair> pairs) {
  Sum sum_b = 0, sum_t2 = 0, other = 0;  // `other`: squares of phased values, t of unphased pairs
  for (const StoredPair pair : pairs) {
    const Sum a0 = pair.a0, a1 = pair.a1;
    const Sum t = kKind == CallKind::kPhased ? a0 + a1 : 2 * a0 + a1;
    sum_b += a0 + a1;
    sum_t2 += t * t;
    other += kKind == CallKind::kPhased ? a0 * a0 + a1 * a1 : t;
  }
  const __int128 d = denominator;
  VariantMoments moments;
  moments.sum_t2 = static_cast<__int128>(sum_t2);
  // The sums of CallVariance; unphased, 4 a0 + a1 = 3 t - 2 (a0 + a1).
  if (kKind == CallKind::kPhased) {
    moments.sum_t = static_cast<__int128>(sum_b);
    moments.sum_variance = d * moments.sum_t - static_cast<__int128>(other);
  } else {
    moments.sum_t = static_cast<__int128>(other);
    moments.sum_variance =
        d * (3 * moments.sum_t - 2 * static_cast<__int128>(sum_b)) - moments.sum_t2;
  }
  return moments;
}

template <typename Sum>
VariantMoments SumDiploid(CallKind kind, uint32_t denominator, std::span<const StoredPair> pairs) {
  return kind == CallKind::kPhased ? SumDiploid<Sum, CallKind::kPhased>(denominator, pairs)
                                   : SumDiploid<Sum, CallKind::kUnphased>(denominator, pairs);
}

}  // namespace

PloidySummary SummarizePloidies(const uint8_t* ploidies, size_t num_samples) {
  PloidySummary summary;
  const auto add = [&](const uint8_t* bytes, size_t count) {
    uint8_t any = 0, low = kPloidyMask, high = 0;
    uint16_t copies = 0;  // kChunk times 63 fits
    for (size_t i = 0; i < count; ++i) {
      const uint8_t ploidy = bytes[i] & kPloidyMask;
      any |= bytes[i];
      low = std::min(low, ploidy);
      high = std::max(high, ploidy);
      copies = static_cast<uint16_t>(copies + ploidy);
    }
    summary.any_bits |= any;
    summary.smallest = std::min<int>(summary.smallest, low);
    summary.largest = std::max<int>(summary.largest, high);
    summary.num_copies += copies;
  };
  const size_t whole = num_samples / kChunk * kChunk;
  for (size_t i = 0; i < whole; i += kChunk) add(ploidies + i, kChunk);
  add(ploidies + whole, num_samples - whole);
  return summary;
}

bool ReadPairs(const StoredCalls& calls, std::vector<StoredPair>& pairs) {
  pairs.resize(calls.num_samples);
  const bool diploid = calls.smallest_ploidy == 2 && calls.largest_ploidy == 2;
  const uint64_t largest = diploid && calls.bits == 8 ? ReadWordPairs<uint8_t>(calls.values, pairs)
                           : diploid && calls.bits == 16
                               ? ReadWordPairs<uint16_t>(calls.values, pairs)
                               : ReadMixedPairs(calls, pairs);
  uint32_t in_gaps = 0;
  ForEachMissing(calls.ploidies, calls.num_samples,
                 [&](size_t i) { in_gaps |= pairs[i].a0 | pairs[i].a1; });
  return in_gaps == 0 && (calls.phased || largest <= (uint64_t{1} << calls.bits) - 1);
}

VariantMoments SumPairs(CallKind kind, uint32_t denominator, std::span<const StoredPair> pairs,
                        std::span<const uint32_t> haploid) {
  // Below 16 bits t*t < 2^35, so 64 bits hold 2^28 people.
  const bool narrow = denominator < 65536 && pairs.size() < (size_t{1} << 28);
  VariantMoments moments = narrow ? SumDiploid<uint64_t>(kind, denominator, pairs)
                                  : SumDiploid<unsigned __int128>(kind, denominator, pairs);
  // A haploid call's variance is a0 (D - a0); as a diploid pair it was counted as four times that
  // when unphased, (a0, 0), and twice when phased, (a0, a0).
  __int128 once = 0;
  for (const uint32_t person : haploid) {
    const uint64_t a0 = pairs[person].a0;
    once += static_cast<__int128>(a0 * (denominator - a0));
  }
  moments.sum_variance -= once * (kind == CallKind::kPhased ? 1 : 3);
  return moments;
}

void SplitPlanes(std::span<const StoredPair> pairs, size_t num_planes, uint8_t* row,
                 size_t stride) {
  constexpr size_t kPairs = kChunk / 2;
  static_assert(sizeof(StoredPair) == 2 * sizeof(uint32_t));
  static_assert(kPairs == kPeoplePerPad, "a chunk ends where the padding ends");
  for (size_t first = 0; first < pairs.size(); first += kPairs) {
    uint32_t values[kChunk] = {};
    std::memcpy(values, pairs.data() + first,
                std::min(kPairs, pairs.size() - first) * sizeof(StoredPair));
    for (size_t plane = 0; plane < num_planes; ++plane) {
      uint8_t* to = row + plane * stride + 2 * first;
      for (size_t k = 0; k < kChunk; ++k) to[k] = static_cast<uint8_t>(values[k] >> (8 * plane));
    }
  }
}

}  // namespace tallele::bgen

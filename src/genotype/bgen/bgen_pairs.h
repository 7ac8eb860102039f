#ifndef TALLELE_GENOTYPE_BGEN_BGEN_PAIRS_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_PAIRS_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "genotype/variant_block.h"

namespace tallele::bgen {

inline constexpr uint8_t kMissingFlag = 0x80;
inline constexpr uint8_t kReservedPloidyBit = 0x40;
inline constexpr uint8_t kPloidyMask = 0x3f;

// Bytes that must be readable after the last value.
inline constexpr size_t kValuePadding = 16;

// The calls of one layout 2 payload of a variant with two alleles.
struct StoredCalls {
  size_t num_samples = 0;
  const uint8_t* ploidies = nullptr;  // one byte a sample: copies, and the missing flag
  const uint8_t* values = nullptr;    // kValuePadding more bytes are readable
  uint64_t value_bytes = 0;
  int bits = 0;
  int smallest_ploidy = 0;
  int largest_ploidy = 0;
  bool phased = false;
};

// What the ploidy bytes hold, in one pass.
struct PloidySummary {
  uint8_t any_bits = 0;  // all bytes or-ed: flags that someone has
  int smallest = 63;
  int largest = 0;
  uint64_t num_copies = 0;
};
PloidySummary SummarizePloidies(const uint8_t* ploidies, size_t num_samples);

// Calls `visit(sample)` for every sample with the missing flag, ascending.
template <typename Visit>
void ForEachMissing(const uint8_t* ploidies, size_t num_samples, Visit visit) {
  size_t i = 0;
  for (; i + 8 <= num_samples; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, ploidies + i, 8);
    if ((eight & 0x8080808080808080u) == 0) continue;
    for (size_t k = i; k < i + 8; ++k) {
      if ((ploidies[k] & kMissingFlag) != 0) visit(k);
    }
  }
  for (; i < num_samples; ++i) {
    if ((ploidies[i] & kMissingFlag) != 0) visit(i);
  }
}

// The stored pair of every sample, ploidies at most 2: (a0, a1), (a0, 0) or (0, 0). False when an
// unphased sum exceeds the denominator or a missing call holds a number other than 0.
bool ReadPairs(const StoredCalls& calls, std::vector<StoredPair>& pairs);

// Sums over `pairs` in the sense of VariantMoments; the pairs of missing calls are (0,0).
// `haploid` lists the positions with one copy. The counts are left to the caller.
VariantMoments SumPairs(CallKind kind, uint32_t denominator, std::span<const StoredPair> pairs,
                        std::span<const uint32_t> haploid);

// Byte plane k of the pairs goes to `row + k * stride`, padded with (0,0).
void SplitPlanes(std::span<const StoredPair> pairs, size_t num_planes, uint8_t* row, size_t stride);

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_PAIRS_H_

#ifndef TALLELE_GENOTYPE_VARIANT_BLOCK_H_
#define TALLELE_GENOTYPE_VARIANT_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "genotype/variant_index.h"
#include "kernels/pair_rows.h"

namespace tallele {

enum class VariantState : uint8_t {
  kUsable,
  kNotBiallelic,  // one allele, or more than two
  kHighPloidy,    // someone has more than two copies
};

// Sums over people with a call. D is the variant's denominator. 128 bits, since 32-bit data
// of many people overflow 64.
struct VariantMoments {
  int64_t num_called = 0;     // people with a call
  int64_t num_haploid = 0;    // of those, with one copy
  __int128 sum_t = 0;         // sum of t, dosage of the first allele = t / D
  __int128 sum_t2 = 0;        // sum of t*t
  __int128 sum_variance = 0;  // sum of D^2 * Var(copies of an allele): see `CallVariance`

  VariantMoments& operator+=(const VariantMoments& other);
  VariantMoments& operator-=(const VariantMoments& other);
};

enum class CallKind : uint8_t { kUnphased, kPhased };

// One decoded variant over the block's people. Stored pair (a0, a1) of a person:
//   unphased diploid: D * P(two first alleles), D * P(one); t = 2*a0 + a1
//   phased diploid:   D * P(first allele) on each haplotype; t = a0 + a1
//   haploid:          unphased (a0, 0), phased (a0, a0): a call counts as 0 or 2 copies
//   missing:          (0, 0), and in `missing`
struct DecodedVariant {
  VariantState state = VariantState::kUsable;
  CallKind kind = CallKind::kUnphased;
  uint32_t denominator = 0;  // D: 2^bits - 1, 32768 in layout 1, 1 for hard calls
  uint8_t num_planes = 1;    // byte planes of a0, a1, least significant first
  bool is_sparse = false;    // held as carriers, not as a row
  uint16_t baseline = 0;     // sparse: the pair of everyone who is not a carrier
  uint32_t first_row = 0;    // dense: its first plane's row in the block

  std::span<const uint32_t> missing;        // block positions without a call, ascending
  std::span<const uint32_t> haploid;        // block positions with one copy, ascending
  std::span<const uint32_t> carriers;       // sparse only, ascending; includes the missing
                                            // unless the baseline is (0,0)
  std::span<const uint16_t> carrier_pairs;  // sparse only
  VariantMoments moments;                   // over everyone in the block with a call
};

// Some variants of one chromosome x the selected people, each in its cheapest exact form.
// Filled by a cursor; reused from block to block.
class VariantBlock {
 public:
  // Drops the contents and makes room for rows of `num_people`. Each row has `prefix_bytes`
  // writable bytes right in front of it, so that a compressed record whose probabilities
  // follow a header can be inflated in place.
  void Reset(VariantRange range, size_t num_people, size_t prefix_bytes = 0);

  VariantRange range() const { return range_; }
  size_t num_people() const { return num_people_; }
  size_t num_variants() const { return variants_.size(); }
  const DecodedVariant& variant(size_t i) const { return variants_[i]; }

  // All dense rows, planes of deeper data included.
  PairRows rows() const;
  PairRows rows(const DecodedVariant& variant) const;  // the planes of one dense variant

  // For cursors: a writable row after the last one (valid until the next call), and the
  // number of rows that are kept. A variant that turns out sparse does not keep its row.
  uint8_t* ScratchRow();
  void KeepRows(size_t count, PairBound bound);
  std::vector<DecodedVariant>& mutable_variants() { return variants_; }
  // Copies into block-owned storage that stays valid until Reset.
  std::span<const uint32_t> StoreIndices(std::span<const uint32_t> indices);
  std::span<const uint16_t> StorePairs(std::span<const uint16_t> pairs);

  size_t MemoryBytes() const;

 private:
  VariantRange range_;
  size_t num_people_ = 0;
  size_t prefix_bytes_ = 0;
  size_t stride_ = 0;
  size_t num_rows_ = 0;
  PairBound bound_ = PairBound::kSumUpTo255;
  AlignedBuffer storage_;
  std::vector<DecodedVariant> variants_;
  std::vector<std::vector<uint32_t>> index_chunks_;
  std::vector<std::vector<uint16_t>> pair_chunks_;
};

// The stored pair of one person, planes joined. Sparse and dense alike; O(log) for sparse.
struct StoredPair {
  uint32_t a0 = 0;
  uint32_t a1 = 0;
};
StoredPair PairOf(const VariantBlock& block, const DecodedVariant& variant, uint32_t person);

// D^2 times the variance of the copy number given the probabilities:
// unphased diploid D*(4*a0 + a1) - t^2, phased a0(D-a0) + a1(D-a1), haploid a0(D-a0) (per call).
__int128 CallVariance(const DecodedVariant& variant, StoredPair pair, bool haploid);

// Moments of unphased diploid calls of one byte plane from the sums of their row. Missing calls
// add nothing to the sums (their pair is (0,0)); `num_called` leaves them out.
VariantMoments UnphasedMoments(uint32_t denominator, const PairMoments& row, int64_t num_called);

// Moments of a subset of the block's people (ascending positions).
VariantMoments SubsetMoments(const VariantBlock& block, const DecodedVariant& variant,
                             std::span<const uint32_t> people);

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_VARIANT_BLOCK_H_

#ifndef TALLELE_ASSOC_BLOCK_SUMS_H_
#define TALLELE_ASSOC_BLOCK_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assoc/chromosome_state.h"
#include "assoc/genetic_coding.h"
#include "assoc/list_moments.h"
#include "base/aligned_buffer.h"
#include "genotype/variant_block.h"

namespace tallele {

// Exact sums of codes over a group's people with a call.
struct CodeMoments {
  __int128 sum = 0;
  __int128 sum_squares = 0;
};

// Integer sums of one variant with the chromosome's columns, plane by plane: the sum with
// column c is  sum over k of 256^k * all[k * all_stride + c].
struct VariantSums {
  const int64_t* all = nullptr;
  size_t all_stride = 0;
  size_t num_planes = 1;
  CodeScale scale;
};

// The same over the people of one group's list, basis columns alone.
struct ListSums {
  const int64_t* sums = nullptr;
  size_t stride = 0;
};

// All integer sums that a block's tests need. Belongs to one worker and is reused from block to
// block: nothing is allocated once the buffers have grown.
class BlockSums {
 public:
  void Compute(const VariantBlock& block, const ChromosomeState& state, const Coding& coding);

  VariantSums Sums(size_t variant) const;
  ListSums SumsOverList(size_t variant, size_t group) const;

  // Sums of q over the people without a call, [columns]; null when everyone has one.
  const int64_t* MissingSums(size_t variant) const;
  // The same over those of them who are in the group's list, [basis columns].
  const int64_t* MissingSumsOverList(size_t variant, size_t group) const;

  // Sums of q t^2 over the people with a call, one for each of the chromosome's weights.
  const __int128* WeightedSquares(size_t variant) const {
    return weighted_squares_.data() + variant * state_->weights.num_weights();
  }

  // The codes of a variant in units of the coding's scale, [block people]; 0 without a call.
  void FillCodesOf(size_t variant, std::span<uint64_t> codes) const {
    FillCodes(*block_, block_->variant(variant), coding_, codes);
  }

  // True when a variant's stored pairs are its codes.
  bool StoresCodes(size_t variant) const {
    return entries_[variant].place == Place::kStored || entries_[variant].place == Place::kSparse;
  }

  // Additive moments over the used people, and over a group's people.
  const VariantMoments& UsedMoments(size_t variant) const { return used_moments_[variant]; }
  VariantMoments GroupMoments(size_t variant, size_t group) const;

  // Moments of the codes over a group's people, for dominant and recessive coding alone.
  const CodeMoments& GroupCodeMoments(size_t variant, size_t group) const {
    return code_moments_[variant * num_groups_ + group];
  }

 private:
  // Pair rows of several variants with all their products.
  struct RowSet {
    std::vector<int64_t> all;                 // [row][columns]
    std::vector<std::vector<int64_t>> lists;  // [group][row][basis columns]
  };
  enum class Place : uint8_t { kStored, kRecoded, kSparse, kNone };
  struct Entry {
    Place place = Place::kNone;
    uint8_t num_planes = 1;
    uint32_t first_row = 0;  // in its row set, or among the sparse variants
    uint32_t missing_slot = 0;
    CodeScale scale;
  };

  void PlaceVariants(const Coding& coding);
  void Recode(const Coding& coding);
  void AddCodeMoments(size_t variant);
  void MultiplyRows(const PairRows& rows, bool wants_moments, RowSet& set);
  void TallyGathered(const PairRows& gathered, size_t list);
  PairRows Gather(const PairRows& rows, const PersonList& list);
  void MultiplySparse();
  void MultiplySparseLists(const DecodedVariant& variant, size_t slot, ListTally* tallies);
  void SumListCarriers(uint16_t baseline, size_t list, int64_t* sums);
  void SumMissing();
  void SumSquares();
  void SumDeepSquares(size_t variant, __int128* squares);
  void SumUsedMoments();
  VariantMoments OverList(size_t variant, size_t list) const;
  ListTally* Tallies(size_t variant) { return tallies_.data() + variant * num_lists_; }

  const VariantBlock* block_ = nullptr;
  const ChromosomeState* state_ = nullptr;
  Coding coding_;
  size_t num_columns_ = 0;
  size_t num_covariates_ = 0;
  size_t num_groups_ = 0;
  size_t num_lists_ = 0;

  std::vector<Entry> entries_;
  std::vector<ListTally> tallies_;  // [variant][list]
  RowSet stored_;
  RowSet recoded_;
  std::vector<int64_t> sparse_;        // [sparse variant][columns]
  std::vector<int64_t> sparse_lists_;  // [sparse variant][group][basis columns]
  // Carriers of one variant by the list that they are in.
  struct ListCarriers {
    std::vector<uint32_t> people;
    std::vector<uint16_t> pairs;
  };
  std::vector<ListCarriers> list_carriers_;  // [list]
  std::vector<int64_t> carrier_sums_;        // [columns]
  bool any_list_ = false;
  size_t num_sparse_ = 0;
  size_t num_recoded_rows_ = 0;
  PairBound recoded_bound_ = PairBound::kSumUpTo255;
  size_t num_missing_slots_ = 0;
  std::vector<int64_t> missing_;        // [slot][columns]
  std::vector<int64_t> missing_lists_;  // [slot][group][basis columns]
  std::vector<VariantMoments> used_moments_;
  std::vector<CodeMoments> code_moments_;
  std::vector<__int128> weighted_squares_;  // [variant][weight]
  std::vector<int64_t> weight_sums_;        // of one variant, by weight
  std::vector<uint64_t> codes_;
  AlignedBuffer recoded_rows_;
  AlignedBuffer gathered_;
  ProductScratch scratch_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_BLOCK_SUMS_H_

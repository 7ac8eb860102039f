#include "assoc/block_sums.h"

#include <algorithm>

namespace tallele {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;

void AddRow(const int32_t* q, size_t count, int64_t* sums) {
  for (size_t c = 0; c < count; ++c) sums[c] += q[c];
}

int64_t Numerator(uint16_t pair) { return 2 * int64_t{pair & 255} + (pair >> 8); }

}  // namespace

void BlockSums::Compute(const VariantBlock& block, const ChromosomeState& state,
                        const Coding& coding) {
  block_ = &block;
  state_ = &state;
  coding_ = coding;
  num_columns_ = state.columns->num_columns();
  num_covariates_ = state.num_covariates;
  num_groups_ = state.groups.size();
  num_lists_ = state.num_lists();
  any_list_ = false;
  for (size_t l = 0; l < num_lists_; ++l) any_list_ = any_list_ || !state.list(l).empty();
  tallies_.assign(block.num_variants() * num_lists_, ListTally{});
  PlaceVariants(coding);
  const bool any_stored = std::any_of(entries_.begin(), entries_.end(),
                                      [](const Entry& e) { return e.place == Place::kStored; });
  if (any_stored) MultiplyRows(block.rows(), true, stored_);
  if (num_recoded_rows_ > 0) Recode(coding);
  MultiplySparse();
  if (state.weights.num_weights() > 0) SumSquares();
  SumMissing();
  SumUsedMoments();
}

void BlockSums::PlaceVariants(const Coding& coding) {
  entries_.assign(block_->num_variants(), Entry{});
  num_sparse_ = 0;
  num_recoded_rows_ = 0;
  recoded_bound_ = PairBound::kSumUpTo255;
  for (size_t v = 0; v < entries_.size(); ++v) {
    const DecodedVariant& variant = block_->variant(v);
    Entry& entry = entries_[v];
    if (variant.state != VariantState::kUsable) continue;
    entry.scale = CodeScaleOf(coding, variant);
    if (NeedsRecoding(coding, variant)) {
      entry.place = Place::kRecoded;
      entry.first_row = static_cast<uint32_t>(num_recoded_rows_);
      entry.num_planes = static_cast<uint8_t>(PlanesOfCodes(entry.scale.highest));
      num_recoded_rows_ += entry.num_planes;
      if (BoundOfCodes(entry.scale.highest) == PairBound::kAnyBytes) {
        recoded_bound_ = PairBound::kAnyBytes;
      }
    } else if (variant.is_sparse) {
      entry.place = Place::kSparse;
      entry.first_row = static_cast<uint32_t>(num_sparse_++);
    } else {
      entry.place = Place::kStored;
      entry.first_row = variant.first_row;
      entry.num_planes = variant.num_planes;
    }
  }
}

PairRows BlockSums::Gather(const PairRows& rows, const PersonList& list) {
  PairRows out;
  out.stride = PairRowStride(list.people.size());
  out.num_rows = rows.num_rows;
  out.num_people = list.people.size();
  out.bound = rows.bound;
  gathered_.Resize(out.stride * out.num_rows);
  auto* bytes = reinterpret_cast<uint8_t*>(gathered_.data());
  GatherPairs(rows, list.people, bytes, out.stride);
  out.data = bytes;
  return out;
}

// Moments of the gathered first rows of all stored variants.
void BlockSums::TallyGathered(const PairRows& gathered, size_t list) {
  for (size_t v = 0; v < entries_.size(); ++v) {
    if (entries_[v].place != Place::kStored || !MomentsFollowFromPairs(block_->variant(v)))
      continue;
    Tallies(v)[list].pairs = ComputePairMoments(
        state_->columns->target(), gathered.row(entries_[v].first_row), gathered.num_people);
  }
}

void BlockSums::MultiplyRows(const PairRows& rows, bool wants_moments, RowSet& set) {
  set.all.resize(rows.num_rows * num_columns_);
  MultiplyPairRows(rows, *state_->columns, scratch_, set.all.data());
  set.lists.resize(std::max(set.lists.size(), num_groups_));
  for (size_t l = 0; l < num_lists_; ++l) {
    const PersonList& list = state_->list(l);
    const bool wants_products = l < num_groups_ && num_covariates_ > 0;
    if (list.empty() || !(wants_products || wants_moments)) continue;
    const PairRows gathered = Gather(rows, list);
    if (wants_moments) TallyGathered(gathered, l);
    if (!wants_products) continue;
    set.lists[l].resize(rows.num_rows * num_covariates_);
    MultiplyPairRows(gathered, list.covariates, scratch_, set.lists[l].data());
  }
}

void BlockSums::Recode(const Coding& coding) {
  const size_t people = block_->num_people();
  PairRows rows;
  rows.stride = PairRowStride(people);
  rows.num_rows = num_recoded_rows_;
  rows.num_people = people;
  rows.bound = recoded_bound_;
  recoded_rows_.Resize(rows.stride * rows.num_rows);
  auto* bytes = reinterpret_cast<uint8_t*>(recoded_rows_.data());
  rows.data = bytes;
  codes_.resize(people);
  code_moments_.resize(entries_.size() * num_groups_);
  for (size_t v = 0; v < entries_.size(); ++v) {
    const Entry& entry = entries_[v];
    if (entry.place != Place::kRecoded) continue;
    FillCodes(*block_, block_->variant(v), coding, codes_);
    WriteCodeRows(codes_, entry.num_planes, rows.stride, bytes + entry.first_row * rows.stride);
    if (coding.model != GeneticModel::kAdditive) AddCodeMoments(v);
  }
  MultiplyRows(rows, false, recoded_);
}

// Exact, so the group's own sum may be the difference of two.
void BlockSums::AddCodeMoments(size_t variant) {
  const auto sum_over = [this](std::span<const uint32_t> people) {
    CodeMoments moments;
    for (const uint32_t p : people) {
      moments.sum += codes_[p];
      moments.sum_squares += static_cast<unsigned __int128>(codes_[p]) * codes_[p];
    }
    return moments;
  };
  CodeMoments used;
  for (const uint64_t code : codes_) {
    used.sum += code;
    used.sum_squares += static_cast<unsigned __int128>(code) * code;
  }
  const CodeMoments unused = sum_over(state_->unused.people);
  used.sum -= unused.sum;
  used.sum_squares -= unused.sum_squares;
  for (size_t g = 0; g < num_groups_; ++g) {
    const SampleGroup& group = *state_->groups[g].group;
    CodeMoments moments = sum_over(group.list.people);
    if (group.list_is_complement) {
      moments.sum = used.sum - moments.sum;
      moments.sum_squares = used.sum_squares - moments.sum_squares;
    }
    code_moments_[variant * num_groups_ + g] = moments;
  }
}

void BlockSums::MultiplySparse() {
  sparse_.resize(num_sparse_ * num_columns_);
  sparse_lists_.assign(num_sparse_ * num_groups_ * num_covariates_, 0);
  for (size_t v = 0; v < entries_.size(); ++v) {
    if (entries_[v].place != Place::kSparse) continue;
    const DecodedVariant& variant = block_->variant(v);
    const size_t slot = entries_[v].first_row;
    MultiplyCarriers(variant.carriers, variant.carrier_pairs, variant.baseline, *state_->columns,
                     sparse_.data() + slot * num_columns_);
    MultiplySparseLists(variant, slot, Tallies(v));
  }
}

// One walk over the carriers serves the lists of all groups.
void BlockSums::MultiplySparseLists(const DecodedVariant& variant, size_t slot,
                                    ListTally* tallies) {
  if (!any_list_) return;
  list_carriers_.resize(std::max(list_carriers_.size(), num_lists_));
  for (ListCarriers& list : list_carriers_) {
    list.people.clear();
    list.pairs.clear();
  }
  for (size_t i = 0; i < variant.carriers.size(); ++i) {
    state_->membership.ForEachList(variant.carriers[i], [&](size_t l) {
      list_carriers_[l].people.push_back(variant.carriers[i]);
      list_carriers_[l].pairs.push_back(variant.carrier_pairs[i]);
    });
  }
  for (size_t l = 0; l < num_lists_; ++l) {
    const PersonList& list = state_->list(l);
    if (list.empty()) continue;
    const ListCarriers& carriers = list_carriers_[l];
    for (const uint16_t pair : carriers.pairs) AddPair(pair, 1, tallies[l].pairs);
    AddPair(variant.baseline, static_cast<int64_t>(list.people.size() - carriers.people.size()),
            tallies[l].pairs);
    if (l == num_groups_ || num_covariates_ == 0) continue;
    SumListCarriers(variant.baseline, l,
                    sparse_lists_.data() + (slot * num_groups_ + l) * num_covariates_);
  }
}

// The carriers' kernel adds the baseline of everyone in the block: replaced by the list's.
void BlockSums::SumListCarriers(uint16_t baseline, size_t list, int64_t* sums) {
  const QuantisedColumns& columns = *state_->columns;
  const QuantisedColumns& own = state_->list(list).covariates;
  const int64_t base = Numerator(baseline);
  carrier_sums_.resize(num_columns_);
  MultiplyCarriers(list_carriers_[list].people, list_carriers_[list].pairs, baseline, columns,
                   carrier_sums_.data());
  for (size_t c = 0; c < num_covariates_; ++c) {
    sums[c] = carrier_sums_[c] + base * (own.sum(c) - columns.sum(c));
  }
}

void BlockSums::SumSquares() {
  const WeightPlanes& weights = state_->weights;
  const size_t count = weights.num_weights();
  weighted_squares_.resize(entries_.size() * count);
  weight_sums_.resize(count);
  const PairRows stored = block_->rows();
  for (size_t v = 0; v < entries_.size(); ++v) {
    const Entry& entry = entries_[v];
    __int128* squares = weighted_squares_.data() + v * count;
    if (entry.place == Place::kNone) continue;
    if (entry.place == Place::kSparse) {
      const DecodedVariant& variant = block_->variant(v);
      for (size_t w = 0; w < count; ++w) {
        squares[w] = SumCarrierSquares(variant.carriers, variant.carrier_pairs, variant.baseline,
                                       *state_->columns, weights.column(w));
      }
    } else if (entry.num_planes > 1) {
      SumDeepSquares(v, squares);
    } else {
      const uint8_t* row = entry.place == Place::kStored
                               ? stored.row(entry.first_row)
                               : reinterpret_cast<const uint8_t*>(recoded_rows_.data()) +
                                     entry.first_row * PairRowStride(block_->num_people());
      const VariantSums sums = Sums(v);
      for (size_t w = 0; w < count; ++w) weight_sums_[w] = sums.all[weights.column(w)];
      SumWeightedSquares(weights, row, weight_sums_, squares);
    }
  }
}

// Codes of more than one byte plane: person by person. |q| < 2^30, codes below 2^34 and 2^22 people
// stay below 2^120.
void BlockSums::SumDeepSquares(size_t variant, __int128* squares) {
  const WeightPlanes& weights = state_->weights;
  codes_.resize(block_->num_people());
  FillCodesOf(variant, codes_);
  std::fill(squares, squares + weights.num_weights(), __int128{0});
  for (size_t p = 0; p < codes_.size(); ++p) {
    if (codes_[p] == 0) continue;
    const __int128 square = static_cast<__int128>(codes_[p]) * static_cast<__int128>(codes_[p]);
    const int32_t* q = state_->columns->row(p);
    for (size_t w = 0; w < weights.num_weights(); ++w) squares[w] += square * q[weights.column(w)];
  }
}

void BlockSums::SumMissing() {
  num_missing_slots_ = 0;
  for (size_t v = 0; v < entries_.size(); ++v) {
    const bool some = entries_[v].place != Place::kNone && !block_->variant(v).missing.empty();
    entries_[v].missing_slot = some ? static_cast<uint32_t>(num_missing_slots_++) : kNoSlot;
  }
  missing_.assign(num_missing_slots_ * num_columns_, 0);
  missing_lists_.assign(num_missing_slots_ * num_groups_ * num_covariates_, 0);
  for (size_t v = 0; v < entries_.size(); ++v) {
    const size_t slot = entries_[v].missing_slot;
    if (slot == kNoSlot) continue;
    int64_t* sums = missing_.data() + slot * num_columns_;
    int64_t* lists = missing_lists_.data() + slot * num_groups_ * num_covariates_;
    ListTally* tallies = Tallies(v);
    for (const uint32_t p : block_->variant(v).missing) {
      const int32_t* q = state_->columns->row(p);
      AddRow(q, num_columns_, sums);
      state_->membership.ForEachList(p, [&](size_t l) {
        ++tallies[l].num_missing;
        if (l < num_groups_) AddRow(q, num_covariates_, lists + l * num_covariates_);
      });
    }
  }
}

const int64_t* BlockSums::MissingSums(size_t variant) const {
  const uint32_t slot = entries_[variant].missing_slot;
  return slot == kNoSlot ? nullptr : missing_.data() + slot * num_columns_;
}

const int64_t* BlockSums::MissingSumsOverList(size_t variant, size_t group) const {
  const size_t slot = entries_[variant].missing_slot;
  return missing_lists_.data() + (slot * num_groups_ + group) * num_covariates_;
}

void BlockSums::SumUsedMoments() {
  used_moments_.resize(entries_.size());
  for (size_t v = 0; v < entries_.size(); ++v) {
    if (entries_[v].place == Place::kNone) continue;
    used_moments_[v] = block_->variant(v).moments;
    if (state_->unused.empty()) continue;
    used_moments_[v] -= OverList(v, num_groups_);
  }
}

VariantMoments BlockSums::OverList(size_t variant, size_t list) const {
  return MomentsOverList(*block_, block_->variant(variant), state_->list(list),
                         tallies_[variant * num_lists_ + list],
                         entries_[variant].place != Place::kRecoded);
}

VariantMoments BlockSums::GroupMoments(size_t variant, size_t group) const {
  const SampleGroup& sample_group = *state_->groups[group].group;
  if (sample_group.covers_all()) return used_moments_[variant];
  const VariantMoments over_list = OverList(variant, group);
  if (!sample_group.list_is_complement) return over_list;
  VariantMoments moments = used_moments_[variant];
  moments -= over_list;
  return moments;
}

VariantSums BlockSums::Sums(size_t variant) const {
  const Entry& entry = entries_[variant];
  VariantSums sums;
  sums.all_stride = num_columns_;
  sums.num_planes = entry.num_planes;
  sums.scale = entry.scale;
  const std::vector<int64_t>& rows = entry.place == Place::kSparse    ? sparse_
                                     : entry.place == Place::kRecoded ? recoded_.all
                                                                      : stored_.all;
  sums.all = rows.data() + entry.first_row * num_columns_;
  return sums;
}

ListSums BlockSums::SumsOverList(size_t variant, size_t group) const {
  const Entry& entry = entries_[variant];
  ListSums sums;
  sums.stride = num_covariates_;
  if (entry.place == Place::kSparse) {
    sums.sums = sparse_lists_.data() + (entry.first_row * num_groups_ + group) * num_covariates_;
  } else {
    const RowSet& set = entry.place == Place::kRecoded ? recoded_ : stored_;
    sums.sums = set.lists[group].data() + entry.first_row * num_covariates_;
  }
  return sums;
}

}  // namespace tallele

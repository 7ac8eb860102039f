#include "assoc/block_sums.h"

#include <algorithm>

#include "assoc/list_moments.h"

namespace tallele {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;

void AddRow(const int32_t* q, size_t count, int64_t* sums) {
  for (size_t c = 0; c < count; ++c) sums[c] += q[c];
}

void AddScaledRow(const int32_t* q, int64_t times, size_t count, int64_t* sums) {
  for (size_t c = 0; c < count; ++c) sums[c] += times * q[c];
}

int64_t Numerator(uint16_t pair) { return 2 * int64_t{pair & 255} + (pair >> 8); }

}  // namespace

void BlockSums::Compute(const VariantBlock& block, const ChromosomeState& state,
                        const PersonList& unused, const Coding& coding) {
  block_ = &block;
  state_ = &state;
  unused_ = &unused;
  num_columns_ = state.columns->num_columns();
  num_covariates_ = state.num_covariates;
  num_groups_ = state.groups.size();
  PlaceVariants(coding);
  const bool any_stored = std::any_of(entries_.begin(), entries_.end(),
                                      [](const Entry& e) { return e.place == Place::kStored; });
  if (any_stored) MultiplyRows(block.rows(), true, stored_);
  if (num_recoded_rows_ > 0) Recode(coding);
  MultiplySparse();
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

void BlockSums::GatherMoments(const PairRows& rows, const PersonList& list,
                              std::vector<PairMoments>& out) {
  out.resize(rows.num_rows);
  for (size_t r = 0; r < rows.num_rows; ++r) {
    out[r] = ComputePairMoments(state_->columns->target(), rows.row(r), list.people.size());
  }
}

void BlockSums::MultiplyRows(const PairRows& rows, bool wants_moments, RowSet& set) {
  set.all.resize(rows.num_rows * num_columns_);
  MultiplyPairRows(rows, *state_->columns, scratch_, set.all.data());
  set.lists.resize(std::max(set.lists.size(), num_groups_));
  set.list_moments.resize(std::max(set.list_moments.size(), num_groups_ + 1));
  for (size_t g = 0; g < num_groups_; ++g) {
    const PersonList& list = state_->groups[g].group->list;
    if (list.empty()) continue;
    const PairRows gathered = Gather(rows, list);
    set.lists[g].resize(rows.num_rows * num_covariates_);
    MultiplyPairRows(gathered, list.covariates, scratch_, set.lists[g].data());
    if (wants_moments) GatherMoments(gathered, list, set.list_moments[g]);
  }
  if (wants_moments && !unused_->empty()) {
    GatherMoments(Gather(rows, *unused_), *unused_, set.list_moments[num_groups_]);
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
  const CodeMoments unused = sum_over(unused_->people);
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
  sparse_lists_.assign(num_groups_ * num_sparse_ * num_covariates_, 0);
  const QuantisedColumns& columns = *state_->columns;
  for (size_t v = 0; v < entries_.size(); ++v) {
    if (entries_[v].place != Place::kSparse) continue;
    const DecodedVariant& variant = block_->variant(v);
    const size_t slot = entries_[v].first_row;
    MultiplyCarriers(variant.carriers, variant.carrier_pairs, variant.baseline, columns,
                     sparse_.data() + slot * num_columns_);
    const int64_t base = Numerator(variant.baseline);
    for (size_t g = 0; g < num_groups_; ++g) {
      const PersonList& list = state_->groups[g].group->list;
      if (list.empty()) continue;
      int64_t* sums = sparse_lists_.data() + (g * num_sparse_ + slot) * num_covariates_;
      for (size_t c = 0; c < num_covariates_; ++c) sums[c] = base * list.covariates.sum(c);
      for (size_t i = 0; i < variant.carriers.size(); ++i) {
        const uint32_t person = variant.carriers[i];
        if (!list.members.Contains(person)) continue;
        AddScaledRow(columns.row(person), Numerator(variant.carrier_pairs[i]) - base,
                     num_covariates_, sums);
      }
    }
  }
}

void BlockSums::SumMissing() {
  missing_slots_.assign(entries_.size(), kNoSlot);
  missing_.clear();
  for (size_t v = 0; v < entries_.size(); ++v) {
    const std::span<const uint32_t> people = block_->variant(v).missing;
    if (people.empty() || entries_[v].place == Place::kNone) continue;
    missing_slots_[v] = static_cast<uint32_t>(missing_.size() / num_columns_);
    missing_.resize(missing_.size() + num_columns_, 0);
    int64_t* sums = missing_.data() + missing_.size() - num_columns_;
    for (const uint32_t p : people) AddRow(state_->columns->row(p), num_columns_, sums);
  }
}

const int64_t* BlockSums::MissingSums(size_t variant) const {
  const uint32_t slot = missing_slots_[variant];
  return slot == kNoSlot ? nullptr : missing_.data() + slot * num_columns_;
}

void BlockSums::MissingSumsOverList(size_t variant, size_t group, int64_t* out) const {
  std::fill_n(out, num_covariates_, 0);
  const PersonList& list = state_->groups[group].group->list;
  if (list.empty()) return;
  for (const uint32_t p : block_->variant(variant).missing) {
    if (list.members.Contains(p)) AddRow(state_->columns->row(p), num_covariates_, out);
  }
}

const PairMoments* BlockSums::Gathered(size_t variant, size_t list) const {
  const Entry& entry = entries_[variant];
  return entry.place == Place::kStored ? &stored_.list_moments[list][entry.first_row] : nullptr;
}

void BlockSums::SumUsedMoments() {
  used_moments_.resize(entries_.size());
  for (size_t v = 0; v < entries_.size(); ++v) {
    if (entries_[v].place == Place::kNone) continue;
    used_moments_[v] = block_->variant(v).moments;
    if (unused_->empty()) continue;
    used_moments_[v] -=
        MomentsOverList(*block_, block_->variant(v), *unused_, Gathered(v, num_groups_));
  }
}

VariantMoments BlockSums::GroupMoments(size_t variant, size_t group) const {
  const SampleGroup& sample_group = *state_->groups[group].group;
  if (sample_group.covers_all()) return used_moments_[variant];
  VariantMoments over_list = MomentsOverList(*block_, block_->variant(variant), sample_group.list,
                                             Gathered(variant, group));
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
    sums.sums = sparse_lists_.data() + (group * num_sparse_ + entry.first_row) * num_covariates_;
  } else {
    const RowSet& set = entry.place == Place::kRecoded ? recoded_ : stored_;
    sums.sums = set.lists[group].data() + entry.first_row * num_covariates_;
  }
  return sums;
}

}  // namespace tallele

#include "assoc/chromosome_state.h"

#include <algorithm>
#include <cmath>

namespace tallele {
namespace {

// Copies base columns to the block axis, zero for people who are not used.
std::vector<std::vector<double>> ScatterToBlock(const ScanAxis& axis,
                                                std::span<const double* const> base_columns) {
  std::vector<std::vector<double>> block(base_columns.size());
  for (size_t c = 0; c < base_columns.size(); ++c) {
    block[c].assign(axis.num_block_people(), 0);
    for (size_t p = 0; p < axis.num_block_people(); ++p) {
      const uint32_t b = axis.base_of_block[p];
      if (b != ScanAxis::kNobody) block[c][p] = base_columns[c][b];
    }
  }
  return block;
}

// Quantises over the whole base set, then picks: the scale must not depend on who is used.
QuantisedColumns QuantiseThenSelect(CpuTarget target, const ScanAxis& axis,
                                    std::span<const double* const> base_columns) {
  const size_t num_base = axis.block_of_base.size();
  std::vector<std::vector<double>> extended(base_columns.size());
  std::vector<const double*> pointers;
  for (size_t c = 0; c < base_columns.size(); ++c) {
    extended[c].assign(base_columns[c], base_columns[c] + num_base);
    extended[c].push_back(0);  // stands for everyone who is not used
    pointers.push_back(extended[c].data());
  }
  const QuantisedColumns all = QuantisedColumns::Quantise(target, pointers, num_base + 1);
  std::vector<uint32_t> people(axis.base_of_block);
  std::replace(people.begin(), people.end(), ScanAxis::kNobody, static_cast<uint32_t>(num_base));
  return all.Select(people, 0, base_columns.size());
}

// Exact sums of products of every residual column with every basis column, [residual][basis].
std::vector<__int128> ResidualCross(const QuantisedColumns& columns, size_t num_covariates) {
  constexpr size_t kPeoplePerFlush = 16;  // products stay below 2^58
  const size_t num_residuals = columns.num_columns() - num_covariates;
  std::vector<__int128> cross(num_residuals * num_covariates, 0);
  std::vector<int64_t> partial(cross.size(), 0);
  for (size_t begin = 0; begin < columns.num_people(); begin += kPeoplePerFlush) {
    const size_t end = std::min(columns.num_people(), begin + kPeoplePerFlush);
    std::fill(partial.begin(), partial.end(), 0);
    for (size_t p = begin; p < end; ++p) {
      const int32_t* q = columns.row(p);
      for (size_t t = 0; t < num_residuals; ++t) {
        const int64_t residual = q[num_covariates + t];
        int64_t* to = partial.data() + t * num_covariates;
        for (size_t c = 0; c < num_covariates; ++c) to[c] += residual * q[c];
      }
    }
    for (size_t i = 0; i < cross.size(); ++i) cross[i] += partial[i];
  }
  return cross;
}

// factor' X'r.
std::vector<double> ProjectionOf(std::span<const __int128> cross, double residual_scale,
                                 const SampleGroup& group) {
  std::vector<double> projection(group.rank, 0);
  for (size_t c = 0; c < cross.size(); ++c) {
    const double sum = static_cast<double>(cross[c]) * residual_scale;
    for (size_t e = 0; e < group.rank; ++e) projection[e] += group.factor[c * group.rank + e] * sum;
  }
  return projection;
}

}  // namespace

QuantisedColumns QuantiseOnAxis(CpuTarget target, const ScanAxis& axis,
                                std::span<const double* const> base_columns) {
  if (axis.num_used() != axis.block_of_base.size()) {
    return QuantiseThenSelect(target, axis, base_columns);
  }
  if (axis.num_used() == axis.num_block_people()) {
    return QuantisedColumns::Quantise(target, base_columns, axis.num_block_people());
  }
  const std::vector<std::vector<double>> block = ScatterToBlock(axis, base_columns);
  std::vector<const double*> pointers;
  for (const std::vector<double>& column : block) pointers.push_back(column.data());
  return QuantisedColumns::Quantise(target, pointers, axis.num_block_people());
}

std::vector<const double*> BasisPointers(const CovariateBasis& basis) {
  std::vector<const double*> pointers;
  for (const std::vector<double>& column : basis.columns) pointers.push_back(column.data());
  return pointers;
}

NullModelFitter::NullModelFitter(const NullModelInputs& inputs)
    : inputs_(inputs), cache_(inputs.cohort->traits.size()) {}

NullModelFitter NullModelFitter::Clone() const {
  NullModelFitter clone(inputs_);
  clone.cache_ = cache_;
  clone.groups_ = groups_;
  clone.covariate_scales_ = covariate_scales_;
  return clone;
}

const SampleGroupBuilder& NullModelFitter::Builder() {
  if (!columns_) {
    columns_ = std::make_shared<const QuantisedColumns>(
        QuantiseOnAxis(inputs_.target, *inputs_.axis, BasisPointers(*inputs_.basis)));
    covariate_scales_.clear();
    for (size_t c = 0; c < inputs_.basis->rank(); ++c) {
      covariate_scales_.push_back(columns_->scale(c));
    }
  }
  if (!builder_) {
    builder_ = std::make_unique<SampleGroupBuilder>(*inputs_.axis, inputs_.is_male, *columns_,
                                                    inputs_.basis->rank());
  }
  return *builder_;
}

std::shared_ptr<const SampleGroup> NullModelFitter::GroupOf(PersonSet mask) {
  for (const auto& group : groups_) {
    if (group->mask == mask) return group;
  }
  groups_.push_back(Builder().Build(std::move(mask)));
  return groups_.back();
}

PersonSet NullModelFitter::MaskOf(size_t trait, std::span<const double> loco) const {
  const std::vector<double>& values = inputs_.cohort->traits[trait].values;
  PersonSet mask(values.size());
  for (size_t b = 0; b < values.size(); ++b) {
    if (!std::isnan(values[b]) && (loco.empty() || !std::isnan(loco[b]))) mask.Add(b);
  }
  return mask;
}

std::shared_ptr<const SampleGroup> NullModelFitter::GroupOfTrait(size_t trait) {
  return GroupOf(MaskOf(trait, {}));
}

std::shared_ptr<const ResidualTrait> NullModelFitter::ResidualOf(size_t trait,
                                                                 std::span<const double> loco) {
  const std::vector<double>& values = inputs_.cohort->traits[trait].values;
  PersonSet mask = MaskOf(trait, loco);
  TraitCache& cache = cache_[trait];
  for (const auto& known : {cache.full, cache.current}) {
    if (known && known->group->mask == mask) return known;
  }
  auto group = GroupOf(std::move(mask));
  auto made = std::make_shared<const ResidualTrait>(
      ResidualiseTrait(values, *inputs_.basis, covariate_scales_, std::move(group)));
  (loco.empty() ? cache.full : cache.current) = made;
  return made;
}

const ResidualTrait& NullModelFitter::PhenotypeResidual(size_t trait) {
  if (!cache_[trait].full) ResidualOf(trait, {});
  return *cache_[trait].full;
}

GroupState& NullModelFitter::GroupIn(ChromosomeState& state,
                                     const std::shared_ptr<const SampleGroup>& group) {
  for (GroupState& known : state.groups) {
    if (known.group == group) return known;
  }
  state.groups.push_back({group, {}, {}});
  return state.groups.back();
}

void NullModelFitter::AddLists(ChromosomeState& state) const {
  state.unused.people = inputs_.axis->unused;
  for (uint32_t p = 0; p < inputs_.axis->num_block_people(); ++p) {
    const uint32_t b = inputs_.axis->base_of_block[p];
    if (b == ScanAxis::kNobody) continue;
    state.used.push_back(p);
    if (inputs_.is_male[b]) state.used_males.push_back(p);
  }
  state.membership = ListMembership(state.columns->num_people(), state.num_lists());
  for (size_t l = 0; l < state.num_lists(); ++l) state.membership.Add(l, state.list(l).people);
}

void NullModelFitter::NoteGaps(size_t trait, const LocoVector& loco, const std::string& label,
                               FitReport& report) {
  const std::string& name = inputs_.cohort->traits[trait].name;
  if (loco.absent_people > 0 && !cache_[trait].noted_absent) {
    cache_[trait].noted_absent = true;
    report.notes.push_back(name + ": " + std::to_string(loco.absent_people) +
                           " people are not in " + inputs_.loco->path(trait) +
                           " and are left out of this trait");
  }
  if (loco.missing_values > 0) {
    report.notes.push_back(name + ", chromosome " + label + ": " +
                           std::to_string(loco.missing_values) +
                           " people have no prediction and are left out of it");
  }
}

// Nothing when the chromosome has no predictions; empty values when none are used.
Result<std::optional<LocoVector>> NullModelFitter::LoadLoco(size_t trait, int code,
                                                            const std::string& label,
                                                            FitReport& report) {
  LocoVector loco;
  if (inputs_.loco == nullptr) return std::optional<LocoVector>(std::move(loco));
  if (!inputs_.loco->HasChromosome(trait, code)) {
    report.problems.push_back({inputs_.cohort->traits[trait].name,
                               "chromosome " + label + ": no row in " + inputs_.loco->path(trait) +
                                   ", so it is not tested there"});
    return std::optional<LocoVector>();
  }
  TALLELE_ASSIGN(loco, inputs_.loco->Load(trait, code));
  NoteGaps(trait, loco, label, report);
  return std::optional<LocoVector>(std::move(loco));
}

Result<std::optional<NullModelFitter::Fitted>> NullModelFitter::FitTrait(size_t trait, int code,
                                                                         const std::string& label,
                                                                         FitReport& report) {
  const std::string& name = inputs_.cohort->traits[trait].name;
  const auto give_up = [&](const std::string& reason) {
    report.problems.push_back({name, "chromosome " + label + ": " + reason});
    return std::optional<Fitted>();
  };
  TALLELE_ASSIGN(const std::optional<LocoVector> loco, LoadLoco(trait, code, label, report));
  if (!loco) return std::optional<Fitted>();
  std::shared_ptr<const ResidualTrait> residual = ResidualOf(trait, loco->values);
  if (!residual->problem.empty()) return give_up(residual->problem);
  ScoreResidual score = SubtractLoco(*residual, loco->values);
  if (!(score.mse > 0)) return give_up("the predictions equal the trait");
  return std::optional<Fitted>(Fitted{trait, std::move(residual), std::move(score)});
}

std::shared_ptr<const ChromosomeState> NullModelFitter::Assemble(
    int code, const std::vector<Fitted>& fitted) {
  std::vector<const double*> pointers = BasisPointers(*inputs_.basis);
  for (const Fitted& one : fitted) pointers.push_back(one.score.values.data());
  auto state = std::make_shared<ChromosomeState>();
  const size_t k = inputs_.basis->rank();
  state->code = code;
  state->num_covariates = k;
  ReleaseColumns();
  columns_ = std::make_shared<const QuantisedColumns>(
      QuantiseOnAxis(inputs_.target, *inputs_.axis, pointers));
  state->columns = columns_;
  const std::vector<__int128> cross = ResidualCross(*columns_, k);
  for (size_t i = 0; i < fitted.size(); ++i) {
    const ResidualTrait& residual = *fitted[i].residual;
    TraitNull null;
    null.trait = fitted[i].trait;
    null.column = k + i;
    null.scale = residual.scale;
    null.mse = fitted[i].score.mse;
    null.projection = ProjectionOf(std::span(cross).subspan(i * k, k), columns_->scale(null.column),
                                   *residual.group);
    GroupIn(*state, residual.group).traits.push_back(std::move(null));
  }
  AddLists(*state);
  return state;
}

Result<std::shared_ptr<const ChromosomeState>> NullModelFitter::Fit(
    const std::vector<size_t>& traits, int code, const std::string& label, FitReport& report) {
  if (inputs_.binary != nullptr) return FitBinary(traits, code, label, report);
  std::vector<Fitted> fitted;
  for (const size_t t : traits) {
    TALLELE_ASSIGN(std::optional<Fitted> one, FitTrait(t, code, label, report));
    if (one) fitted.push_back(*std::move(one));
  }
  return Assemble(code, fitted);
}

}  // namespace tallele

#include "assoc/block_test.h"

#include <limits>

namespace tallele {
namespace {

// A recessive code with a smaller mean has no homozygotes (regenie.md 1.7).
constexpr double kSmallestRecessiveMean = 1e-6;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void TraitRows::Clear() {
  table.rows.clear();
  low_mac = low_info = low_homs = 0;
}

void SkippedVariants::Clear() {
  not_biallelic.clear();
  high_ploidy.clear();
}

BlockTester::BlockTester(const TestSettings& settings, const VariantIndex& variants)
    : settings_(settings), variants_(variants) {}

void BlockTester::Test(const VariantBlock& block, const ChromosomeState& state,
                       std::vector<TraitRows>& rows, SkippedVariants& skipped) {
  sums_.Compute(block, state, settings_.coding);
  for (size_t v = 0; v < block.num_variants(); ++v) {
    switch (block.variant(v).state) {
      case VariantState::kUsable:
        for (size_t g = 0; g < state.groups.size(); ++g) TestGroup(block, state, v, g, rows);
        break;
      case VariantState::kNotBiallelic:
        skipped.not_biallelic.push_back(block.range().first + v);
        break;
      case VariantState::kHighPloidy:
        skipped.high_ploidy.push_back(block.range().first + v);
        break;
    }
  }
}

VariantMeasures BlockTester::Measure(const VariantBlock& block, const ChromosomeState& state,
                                     size_t v, const SampleGroup& group,
                                     const VariantMoments& moments) const {
  const DecodedVariant& variant = block.variant(v);
  const double denominator = static_cast<double>(variant.denominator);
  if (state.code == settings_.sex_chromosome_code && !group.males.empty()) {
    const uint32_t position = variants_[block.range().first + v].position;
    if (position >= settings_.non_par.first && position <= settings_.non_par.last) {
      const VariantMoments males = SubsetMoments(block, variant, group.males);
      return MeasureVariant(moments, denominator, settings_.has_probabilities, &males);
    }
  }
  return MeasureVariant(moments, denominator, settings_.has_probabilities, nullptr);
}

BlockTester::Filter BlockTester::ApplyFilters(const VariantMeasures& measures,
                                              const CodeMoments& codes, double unit) const {
  if (measures.minor_allele_count < settings_.min_mac) return Filter::kLowMac;
  // The raw value may be negative; without a threshold such a variant stays, as in REGENIE.
  if (settings_.has_probabilities && settings_.min_info > 0 &&
      measures.impute_info < settings_.min_info) {
    return Filter::kLowInfo;
  }
  if (settings_.coding.model == GeneticModel::kRecessive) {
    const double homs = static_cast<double>(codes.sum) / unit;
    const double mean = homs / static_cast<double>(measures.num_called);
    if (homs < settings_.min_homs || !(mean >= kSmallestRecessiveMean)) return Filter::kLowHoms;
  }
  return Filter::kPass;
}

ResultRow BlockTester::RowOf(size_t variant, const VariantMeasures& measures) const {
  ResultRow row;
  row.variant = static_cast<uint32_t>(variant);
  row.n = static_cast<int32_t>(measures.num_called);
  row.a1freq =
      settings_.coding.effect_is_second ? measures.second_frequency : measures.first_frequency;
  row.info = measures.impute_info;
  row.info_ratio = measures.info_ratio;
  row.beta = row.se = row.chisq = row.log10p = kNone;
  row.status = RowStatus::kNoVariance;
  return row;
}

void BlockTester::AddRows(const GroupState& group, const ResultRow& common, bool has_test,
                          std::vector<TraitRows>& rows) const {
  const bool additive = settings_.coding.model == GeneticModel::kAdditive;
  const double sign = additive && settings_.coding.effect_is_second ? -1 : 1;
  for (const TraitNull& trait : group.traits) {
    ResultRow row = common;
    if (has_test) {
      const LinearStatistics statistics = residualised_.Test(trait, sign);
      row.beta = statistics.beta;
      row.se = statistics.se;
      row.chisq = statistics.chisq;
      row.log10p = statistics.log10p;
      row.status = RowStatus::kSuccess;
    }
    rows[trait.trait].table.rows.push_back(row);
  }
}

void BlockTester::TestGroup(const VariantBlock& block, const ChromosomeState& state, size_t v,
                            size_t group, std::vector<TraitRows>& rows) {
  const GroupState& group_state = state.groups[group];
  const VariantMoments moments = sums_.GroupMoments(v, group);
  const VariantMeasures measures = Measure(block, state, v, *group_state.group, moments);
  CodeMoments codes{moments.sum_t, moments.sum_t2};
  if (settings_.coding.model != GeneticModel::kAdditive) codes = sums_.GroupCodeMoments(v, group);

  const double unit = static_cast<double>(sums_.Sums(v).scale.unit);
  const Filter filter = ApplyFilters(measures, codes, unit);
  if (filter != Filter::kPass) {
    for (const TraitNull& trait : group_state.traits) {
      TraitRows& own = rows[trait.trait];
      ++(filter == Filter::kLowMac    ? own.low_mac
         : filter == Filter::kLowInfo ? own.low_info
                                      : own.low_homs);
    }
    return;
  }
  const bool has_test = residualised_.Compute(sums_, v, state, group, codes, measures.num_called);
  AddRows(group_state, RowOf(block.range().first + v, measures), has_test, rows);
}

}  // namespace tallele

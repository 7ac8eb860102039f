#include "assoc/block_test.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <limits>

#include "assoc/genotype_counts.h"
#include "kernels/normal_tail.h"

namespace tallele {
namespace {

// A recessive code with a smaller mean has no homozygotes (regenie.md 1.7).
constexpr double kSmallestRecessiveMean = 1e-6;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void CorrectionCounts::Add(const CorrectionCounts& other) {
  candidates += other.candidates;
  carriers_only += other.carriers_only;
  for (size_t i = 0; i < std::size(by_end); ++i) by_end[i] += other.by_end[i];
}

void TraitRows::Clear() {
  table.rows.clear();
  table.counts.clear();
  low_mac = low_info = low_homs = 0;
  corrections = {};
}

void SkippedVariants::Clear() {
  not_biallelic.clear();
  high_ploidy.clear();
}

BlockTester::BlockTester(const TestSettings& settings, const VariantIndex& variants,
                         const BinaryCorrector& corrector,
                         tbb::enumerable_thread_specific<CorrectionScratch>& scratch)
    : settings_(settings), variants_(variants), corrector_(corrector), scratch_(scratch) {}

void BlockTester::Test(const VariantBlock& block, const ChromosomeState& state,
                       std::vector<TraitRows>& rows, SkippedVariants& skipped) {
  sums_.Compute(block, state, settings_.coding);
  union_rows_.clear();
  for (size_t v = 0; v < block.num_variants(); ++v) {
    switch (block.variant(v).state) {
      case VariantState::kUsable:
        for (size_t g = 0; g < state.groups.size(); ++g) TestGroup(block, state, v, g, rows);
        if (settings_.union_rows) AddUnionRow(block, state, v);
        break;
      case VariantState::kNotBiallelic:
        skipped.not_biallelic.push_back(block.range().first + v);
        break;
      case VariantState::kHighPloidy:
        skipped.high_ploidy.push_back(block.range().first + v);
        break;
    }
  }
  CorrectPending(block, rows);
}

void BlockTester::AddUnionRow(const VariantBlock& block, const ChromosomeState& state, size_t v) {
  const VariantMoments& moments = sums_.UsedMoments(v);
  const VariantMeasures measures = Measure(block, state, v, state.used_males, moments);
  // The recessive filter asks for homozygotes of the tested code: it stays with the traits.
  if (measures.minor_allele_count < settings_.min_mac) return;
  if (settings_.has_probabilities && settings_.min_info > 0 &&
      measures.impute_info < settings_.min_info) {
    return;
  }
  const ResultRow row = RowOf(block.range().first + v, measures);
  union_rows_.push_back({row.variant, row.n, row.a1freq, row.info,
                         CountNearestGenotypes(block, block.variant(v),
                                               settings_.coding.effect_is_second, state.used, {})});
}

VariantMeasures BlockTester::Measure(const VariantBlock& block, const ChromosomeState& state,
                                     size_t v, std::span<const uint32_t> males,
                                     const VariantMoments& moments) const {
  const DecodedVariant& variant = block.variant(v);
  const double denominator = static_cast<double>(variant.denominator);
  if (state.code == settings_.sex_chromosome_code && !males.empty()) {
    const uint32_t position = variants_[block.range().first + v].position;
    if (position >= settings_.non_par.first && position <= settings_.non_par.last) {
      const VariantMoments of_males = SubsetMoments(block, variant, males);
      return MeasureVariant(moments, denominator, settings_.has_probabilities, &of_males);
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
  row.minor_allele_count = measures.minor_allele_count;
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
  const VariantMeasures measures = Measure(block, state, v, group_state.group->males, moments);
  CodeMoments codes{moments.sum_t, moments.sum_t2};
  if (settings_.coding.model != GeneticModel::kAdditive) codes = sums_.GroupCodeMoments(v, group);

  const double unit = static_cast<double>(sums_.Sums(v).scale.unit);
  const Filter filter = ApplyFilters(measures, codes, unit);
  if (filter != Filter::kPass) {
    for (const TraitNull& trait : group_state.traits) CountFiltered(filter, rows[trait.trait]);
    for (const BinaryNull& trait : group_state.binary) CountFiltered(filter, rows[trait.trait]);
    return;
  }
  const ResultRow common = RowOf(block.range().first + v, measures);
  if (!group_state.binary.empty()) {
    weighted_.Prepare(sums_, v, state, codes, measures.num_called);
    AddBinaryRows(block, group_state, v, common, moments, rows);
  } else {
    const bool has_test = residualised_.Compute(sums_, v, state, group, codes, measures.num_called);
    AddRows(group_state, common, has_test, rows);
  }
  if (settings_.count_genotypes) CountGenotypes(block, group_state, v, rows);
}

void BlockTester::CountFiltered(Filter filter, TraitRows& rows) {
  ++(filter == Filter::kLowMac    ? rows.low_mac
     : filter == Filter::kLowInfo ? rows.low_info
                                  : rows.low_homs);
}

// Frequencies of cases and controls; their genotypes are always the additive ones. The exact sums
// of the test have them, unless the codes are others or there is no null model.
void BlockTester::FillCaseColumns(const VariantBlock& block, const BinaryNull& null, size_t v,
                                  const VariantMoments& moments, const BinaryScore& test,
                                  ResultRow& row) const {
  const DecodedVariant& variant = block.variant(v);
  double case_alleles = test.case_codes;
  int64_t called_cases = test.called_cases;
  if (null.failed || settings_.coding.model != GeneticModel::kAdditive) {
    std::vector<uint32_t> cases;
    for (size_t i = 0; i < null.people->y.size(); ++i) {
      if (null.people->y[i] > 0.5) cases.push_back(null.people->design->block[i]);
    }
    const VariantMoments of_cases = SubsetMoments(block, variant, cases);
    case_alleles = static_cast<double>(of_cases.sum_t);
    called_cases = of_cases.num_called;
  }
  const double denominator = static_cast<double>(variant.denominator);
  const double control_alleles = static_cast<double>(moments.sum_t) - case_alleles;
  const int64_t controls = moments.num_called - called_cases;
  const auto frequency = [&](double alleles, int64_t people) {
    if (people == 0) return kNone;
    const double first = alleles / denominator / (2 * static_cast<double>(people));
    return settings_.coding.effect_is_second ? 1 - first : first;
  };
  row.num_cases = static_cast<int32_t>(called_cases);
  row.a1freq_cases = frequency(case_alleles, called_cases);
  row.a1freq_controls = frequency(control_alleles, controls);
}

void BlockTester::AddBinaryRows(const VariantBlock& block, const GroupState& group, size_t v,
                                const ResultRow& common, const VariantMoments& moments,
                                std::vector<TraitRows>& rows) {
  const bool additive = settings_.coding.model == GeneticModel::kAdditive;
  double sign = additive && settings_.coding.effect_is_second ? -1 : 1;
  if (weighted_.turned()) sign = -sign;
  for (const BinaryNull& null : group.binary) {
    TraitRows& own = rows[null.trait];
    ResultRow row = common;
    row.a1freq_cases = row.a1freq_controls = kNone;
    if (null.failed) {
      FillCaseColumns(block, null, v, moments, {}, row);
      row.status = RowStatus::kNullFailed;
      own.table.rows.push_back(row);
      continue;
    }
    const BinaryScore test = weighted_.Test(null);
    FillCaseColumns(block, null, v, moments, test, row);
    if (test.has_test) {
      row.score = sign * test.score;
      row.score_variance = test.variance;
      row.beta = sign * test.score / test.variance;
      row.se = 1 / std::sqrt(test.variance);
      row.chisq = test.score * test.score / test.variance;
      row.log10p = ChiSquareLog10P(row.chisq);
      row.status = RowStatus::kSuccess;
      if (settings_.correction_chisq > 0 && row.chisq > settings_.correction_chisq) {
        AddPending(null, test, v, sign, row, own);
      }
    }
    own.table.rows.push_back(row);
  }
}

void BlockTester::AddPending(const BinaryNull& null, const BinaryScore& test, size_t v, double sign,
                             const ResultRow& row, const TraitRows& own) {
  Pending pending;
  CorrectionCandidate& candidate = pending.candidate;
  candidate.variant = v;
  candidate.null = &null;
  candidate.adjustment = weighted_.AdjustmentOf(null);
  candidate.turned = weighted_.turned();
  candidate.mean = weighted_.mean();
  candidate.score = test.score;
  candidate.variance = test.variance;
  candidate.minor_allele_count = row.minor_allele_count;
  candidate.num_called = row.n;
  pending.trait = null.trait;
  pending.row = own.table.rows.size();
  pending.sign = sign;
  pending_.push_back(std::move(pending));
}

void BlockTester::CorrectPending(const VariantBlock& block, std::vector<TraitRows>& rows) {
  if (pending_.empty()) return;
  // Isolated: a thread that waits here must not take up another block, whose buffers are its own.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(size_t{0}, pending_.size(), [&](size_t i) {
      pending_[i].result =
          corrector_.Correct(block, sums_, pending_[i].candidate, scratch_.local());
    });
  });
  for (const Pending& pending : pending_) {
    MergeCorrection(pending, corrector_.method(), rows[pending.trait]);
  }
  pending_.clear();
}

// A failed correction leaves BETA and SE of the score test, and no statistic.
void BlockTester::MergeCorrection(const Pending& pending, CorrectionMethod method, TraitRows& own) {
  const CorrectedTest& result = pending.result;
  ResultRow& row = own.table.rows[pending.row];
  ++own.corrections.candidates;
  own.corrections.carriers_only += result.carriers_only;
  ++own.corrections.by_end[static_cast<size_t>(result.end)];
  row.method = method;
  if (!result.succeeded()) {
    row.chisq = row.log10p = kNone;
    row.status = result.end == CorrectionEnd::kNullFailed ? RowStatus::kNullFirthFailed
                                                          : RowStatus::kNotConverged;
    return;
  }
  row.chisq = result.chisq;
  row.log10p = result.log10p;
  if (method == CorrectionMethod::kSaddlepoint) {
    row.beta = std::copysign(std::sqrt(result.chisq) * row.se, row.beta);
    if (result.end == CorrectionEnd::kNearTail) row.status = RowStatus::kOneTail;
  } else {
    row.beta = pending.sign * result.beta;
    row.se = result.se;
  }
}

// Adds one entry to each trait that has just got a row.
void BlockTester::CountGenotypes(const VariantBlock& block, const GroupState& group, size_t v,
                                 std::vector<TraitRows>& rows) const {
  const DecodedVariant& variant = block.variant(v);
  const bool second = settings_.coding.effect_is_second;
  for (const TraitNull& trait : group.traits) {
    rows[trait.trait].table.counts.push_back(
        CountNearestGenotypes(block, variant, second, group.group->people, {}));
  }
  for (const BinaryNull& null : group.binary) {
    rows[null.trait].table.counts.push_back(
        CountNearestGenotypes(block, variant, second, null.people->design->block, null.people->y));
  }
}

}  // namespace tallele

#include "assoc/binary_correction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "assoc/exact_firth.h"
#include "assoc/saddlepoint.h"
#include "kernels/logistic_passes.h"
#include "kernels/normal_tail.h"

namespace tallele {
namespace {

// REGENIE takes carriers alone for fewer minor alleles than this, and at least this share of zeros.
constexpr double kRareAlleleCount = 50;
constexpr double kZeroShare = 0.5;

// Values of stored numerators t of one 8-bit pair, turned where the candidate's codes are.
class CodeValues {
 public:
  CodeValues(const CodeScale& scale, bool turned) {
    for (size_t t = 0; t < values_.size(); ++t) {
      const double code = turned ? static_cast<double>(scale.highest) - static_cast<double>(t)
                                 : static_cast<double>(t);
      values_[t] = code / static_cast<double>(scale.unit);
    }
  }
  double Of(uint8_t b0, uint8_t b1) const { return values_[2 * size_t{b0} + b1]; }
  double Of(uint16_t pair) const {
    return Of(static_cast<uint8_t>(pair & 255), static_cast<uint8_t>(pair >> 8));
  }

 private:
  std::array<double, 766> values_;
};

// True when the stored pairs are the codes, in one byte plane.
bool HasPlainPairs(const BlockSums& sums, size_t variant, const DecodedVariant& decoded) {
  return sums.StoresCodes(variant) && decoded.num_planes == 1;
}

// The pair of a person without the rarer allele.
uint16_t ZeroPair(const CodeScale& scale, bool turned) {
  return turned ? static_cast<uint16_t>(scale.highest / 2) : uint16_t{0};
}

}  // namespace

BinaryCorrector::BinaryCorrector(const BinaryOptions& options, const CovariateBasis& basis,
                                 CpuTarget target)
    : options_(options), basis_(basis), target_(target) {
  if (options.correction == BinaryCorrection::kNone) return;
  const size_t k = basis.rank();
  rows_.resize(basis.num_people * k);
  for (size_t b = 0; b < basis.num_people; ++b) {
    for (size_t c = 0; c < k; ++c) rows_[b * k + c] = basis.columns[c][b];
  }
}

// Fills scratch.people and x with the mask's people whose code is above `threshold`, ascending.
// False when the variant is not held in a form that makes this cheap.
bool BinaryCorrector::ListCarriersOf(const VariantBlock& block, const BlockSums& sums,
                                     const CorrectionCandidate& candidate, double threshold,
                                     CorrectionScratch& scratch) const {
  const DecodedVariant& variant = block.variant(candidate.variant);
  if (!HasPlainPairs(sums, candidate.variant, variant)) return false;
  const CodeScale scale = sums.Sums(candidate.variant).scale;
  const CodeValues values(scale, candidate.turned);
  std::span<const uint32_t> listed = variant.carriers;
  std::span<const uint16_t> pairs = variant.carrier_pairs;
  if (variant.is_sparse) {
    if (values.Of(variant.baseline) > threshold) return false;
  } else {
    const size_t room = PaddedPeople(block.num_people()) + 32;
    scratch.listed.resize(room);
    scratch.pairs.resize(room);
    const size_t count = ListCarriers(target_, block.rows(variant).row(0), block.num_people(),
                                      ZeroPair(scale, candidate.turned), scratch.listed.data(),
                                      scratch.pairs.data());
    listed = std::span(scratch.listed).first(count);
    pairs = std::span(scratch.pairs).first(count);
  }
  const std::vector<uint32_t>& block_of = candidate.null->people->design->block;
  scratch.people.clear();
  scratch.x.clear();
  auto missing = variant.missing.begin();
  size_t i = 0;
  // Carriers and people without a call in one ascending walk; the latter count with the mean.
  while (i < listed.size() || missing != variant.missing.end()) {
    const bool is_missing =
        missing != variant.missing.end() && (i == listed.size() || *missing <= listed[i]);
    const uint32_t position = is_missing ? *missing : listed[i];
    const double g = is_missing ? candidate.mean : values.Of(pairs[i]);
    if (i < listed.size() && listed[i] == position) ++i;
    if (is_missing) ++missing;
    if (!(g > threshold)) continue;
    const auto at = std::lower_bound(block_of.begin(), block_of.end(), position);
    if (at == block_of.end() || *at != position) continue;
    scratch.people.push_back(static_cast<uint32_t>(at - block_of.begin()));
    scratch.x.push_back(g);
  }
  return true;
}

// The same from the codes of everyone in scratch.x.
void BinaryCorrector::KeepCarriers(const CorrectionCandidate& candidate, double threshold,
                                   CorrectionScratch& scratch) const {
  scratch.people.clear();
  const size_t m = candidate.null->people->y.size();
  size_t kept = 0;
  for (size_t i = 0; i < m; ++i) {
    if (!(scratch.x[i] > threshold)) continue;
    scratch.people.push_back(static_cast<uint32_t>(i));
    scratch.x[kept++] = scratch.x[i];
  }
  scratch.x.resize(kept);
}

// scratch.x = codes of the mask's people, missing calls at the mean.
void BinaryCorrector::LoadEveryone(const VariantBlock& block, const BlockSums& sums,
                                   const CorrectionCandidate& candidate,
                                   CorrectionScratch& scratch) const {
  const DecodedVariant& variant = block.variant(candidate.variant);
  const std::vector<uint32_t>& block_of = candidate.null->people->design->block;
  const size_t m = block_of.size();
  scratch.x.resize(m);
  if (HasPlainPairs(sums, candidate.variant, variant) && !variant.is_sparse) {
    const CodeValues values(sums.Sums(candidate.variant).scale, candidate.turned);
    const uint8_t* row = block.rows(variant).row(0);
    for (size_t i = 0; i < m; ++i) {
      const uint8_t* pair = row + 2 * size_t{block_of[i]};
      scratch.x[i] = values.Of(pair[0], pair[1]);
    }
  } else {
    LoadCodes(block, sums, candidate, scratch);
  }
  for (const uint32_t position : variant.missing) {
    const auto at = std::lower_bound(block_of.begin(), block_of.end(), position);
    if (at == block_of.end() || *at != position) continue;
    scratch.x[static_cast<size_t>(at - block_of.begin())] = candidate.mean;
  }
}

void BinaryCorrector::LoadCodes(const VariantBlock& block, const BlockSums& sums,
                                const CorrectionCandidate& candidate,
                                CorrectionScratch& scratch) const {
  const CodeScale scale = sums.Sums(candidate.variant).scale;
  scratch.codes.resize(block.num_people());
  sums.FillCodesOf(candidate.variant, scratch.codes);
  const std::vector<uint32_t>& block_of = candidate.null->people->design->block;
  for (size_t i = 0; i < block_of.size(); ++i) {
    const uint64_t code = scratch.codes[block_of[i]];
    scratch.x[i] = static_cast<double>(candidate.turned ? scale.highest - code : code) /
                   static_cast<double>(scale.unit);
  }
}

// x = g - X (X'WX)^-1 X'Wg.
void BinaryCorrector::Adjust(const CorrectionCandidate& candidate, bool carriers_only,
                             CorrectionScratch& scratch) const {
  const std::vector<uint32_t>& base_of = candidate.null->people->design->base;
  if (base_of.size() == basis_.num_people && !carriers_only) {
    std::vector<const double*> columns;
    for (const std::vector<double>& column : basis_.columns) columns.push_back(column.data());
    SubtractColumns(target_, columns.data(), candidate.adjustment.data(), columns.size(),
                    scratch.x.size(), scratch.x.data());
    return;
  }
  const size_t k = candidate.adjustment.size();
  for (size_t i = 0; i < scratch.x.size(); ++i) {
    const double* row = rows_.data() + k * base_of[carriers_only ? scratch.people[i] : i];
    double x = scratch.x[i];
    for (size_t c = 0; c < k; ++c) x -= candidate.adjustment[c] * row[c];
    scratch.x[i] = x;
  }
}

CorrectedTest BinaryCorrector::FromFirth(const FirthEstimate& estimate, bool carriers_only) const {
  CorrectedTest out;
  out.carriers_only = carriers_only;
  if (!estimate.converged()) return out;
  out.end = estimate.stage == FirthStage::kPseudoData ? CorrectionEnd::kPseudoData
                                                      : CorrectionEnd::kNewton;
  out.beta = estimate.beta;
  out.chisq = estimate.lrt;
  out.log10p = ChiSquareLog10P(out.chisq);
  out.se =
      options_.firth_se && out.chisq > 0 ? std::fabs(out.beta) / std::sqrt(out.chisq) : estimate.se;
  return out;
}

CorrectedTest BinaryCorrector::ByFirth(const VariantBlock& block, const BlockSums& sums,
                                       const CorrectionCandidate& candidate,
                                       CorrectionScratch& scratch) const {
  const BinaryPeople& people = *candidate.null->people;
  if (!people.firth_problem.empty()) {
    CorrectedTest out;
    out.end = CorrectionEnd::kNullFailed;
    return out;
  }
  const bool rare = options_.carriers_only_firth && candidate.minor_allele_count < kRareAlleleCount;
  const double threshold = options_.firth.carrier_dosage;
  const double called = static_cast<double>(candidate.num_called);
  bool carriers_only = false;
  if (rare && ListCarriersOf(block, sums, candidate, threshold, scratch)) {
    carriers_only = called - static_cast<double>(scratch.x.size()) >= kZeroShare * called;
    if (!carriers_only) LoadEveryone(block, sums, candidate, scratch);
  } else {
    LoadEveryone(block, sums, candidate, scratch);
    const auto zeros = std::count_if(scratch.x.begin(), scratch.x.end(),
                                     [&](double g) { return !(g > threshold); });
    carriers_only = rare && static_cast<double>(zeros) >= kZeroShare * called;
    if (carriers_only) KeepCarriers(candidate, threshold, scratch);
  }
  Adjust(candidate, carriers_only, scratch);
  FirthCandidate fit;
  fit.x = scratch.x;
  fit.carriers_only = carriers_only;
  fit.offset = people.firth_offset;
  fit.y = people.y;
  if (!carriers_only) {
    fit.null_p = people.firth_p;
    fit.null_w = people.firth_w;
    fit.null_deviance = people.firth_deviance;
  } else {
    scratch.offset.clear();
    scratch.y.clear();
    for (const uint32_t i : scratch.people) {
      scratch.offset.push_back(people.firth_offset[i]);
      scratch.y.push_back(people.y[i]);
    }
    fit.offset = scratch.offset;
    fit.y = scratch.y;
  }
  return FromFirth(FitVariantFirth(target_, fit, options_.firth), carriers_only);
}

CorrectedTest BinaryCorrector::ByExactFirth(const VariantBlock& block, const BlockSums& sums,
                                            const CorrectionCandidate& candidate,
                                            CorrectionScratch& scratch) const {
  const BinaryPeople& people = *candidate.null->people;
  LoadEveryone(block, sums, candidate, scratch);
  ExactFirthInputs inputs;
  inputs.design = people.design.get();
  inputs.genotype = scratch.x;
  inputs.y = people.y;
  inputs.offset = people.loco;
  inputs.start = people.coefficients;
  return FromFirth(FitExactFirth(target_, inputs, options_.firth), false);
}

CorrectedTest BinaryCorrector::BySaddlepoint(const VariantBlock& block, const BlockSums& sums,
                                             const CorrectionCandidate& candidate,
                                             CorrectionScratch& scratch) const {
  const BinaryPeople& people = *candidate.null->people;
  CorrectedTest out;
  // REGENIE's rule for carriers alone: at least half are zero, counting people of the base set who
  // lack the trait (they are zeroed there), but not those without a call.
  const size_t num_people = people.y.size();
  const size_t outside = basis_.num_people - num_people;
  const auto mostly_zero = [&](size_t carriers) {
    const double zeros = static_cast<double>(num_people - carriers + outside);
    return zeros >= kZeroShare * static_cast<double>(basis_.num_people);
  };
  if (ListCarriersOf(block, sums, candidate, 0, scratch)) {
    out.carriers_only = mostly_zero(scratch.x.size());
    if (!out.carriers_only) LoadEveryone(block, sums, candidate, scratch);
  } else {
    LoadEveryone(block, sums, candidate, scratch);
    const auto zeros =
        std::count_if(scratch.x.begin(), scratch.x.end(), [](double g) { return !(g > 0); });
    out.carriers_only = mostly_zero(num_people - static_cast<size_t>(zeros));
    if (out.carriers_only) KeepCarriers(candidate, 0, scratch);
  }
  Adjust(candidate, out.carriers_only, scratch);
  SaddlepointInputs inputs;
  inputs.x = scratch.x;
  inputs.eta = people.eta;
  inputs.score = candidate.score;
  inputs.variance = candidate.variance;
  inputs.carriers_only = out.carriers_only;
  if (out.carriers_only) {
    scratch.offset.clear();
    for (const uint32_t i : scratch.people) scratch.offset.push_back(people.eta[i]);
    inputs.eta = scratch.offset;
  }
  const SaddlepointResult result = TestBySaddlepoint(target_, inputs);
  if (result.outcome == SaddlepointOutcome::kFailed) return out;
  out.end = result.outcome == SaddlepointOutcome::kBothTails ? CorrectionEnd::kBothTails
                                                             : CorrectionEnd::kNearTail;
  out.log10p = -result.log_p / std::log(10.0);
  out.chisq = ChiSquareOfLog10P(out.log10p);
  return out;
}

CorrectionMethod BinaryCorrector::method() const {
  switch (options_.correction) {
    case BinaryCorrection::kFirthApproximate:
      return CorrectionMethod::kFirthApproximate;
    case BinaryCorrection::kFirthExact:
      return CorrectionMethod::kFirthExact;
    case BinaryCorrection::kSaddlepoint:
      return CorrectionMethod::kSaddlepoint;
    case BinaryCorrection::kNone:
      break;
  }
  return CorrectionMethod::kScore;
}

CorrectedTest BinaryCorrector::Correct(const VariantBlock& block, const BlockSums& sums,
                                       const CorrectionCandidate& candidate,
                                       CorrectionScratch& scratch) const {
  switch (options_.correction) {
    case BinaryCorrection::kFirthApproximate:
      return ByFirth(block, sums, candidate, scratch);
    case BinaryCorrection::kFirthExact:
      return ByExactFirth(block, sums, candidate, scratch);
    case BinaryCorrection::kSaddlepoint:
      return BySaddlepoint(block, sums, candidate, scratch);
    case BinaryCorrection::kNone:
      break;
  }
  return {};
}

}  // namespace tallele

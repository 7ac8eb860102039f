#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "ancestry/match.h"

namespace tallele {
namespace {

constexpr double kUnclearFrequency = 0.1;  // from one half

struct Candidate {
  size_t variant = 0;
  AlleleMatch alleles;
};

// Exact letters, then swapped, then flipped, then one letter.
int RankOf(AlleleFit fit) {
  switch (fit) {
    case AlleleFit::kExact:
      return 0;
    case AlleleFit::kSwapped:
      return 1;
    case AlleleFit::kFlipped:
    case AlleleFit::kFlippedSwapped:
      return 2;
    case AlleleFit::kOneAllele:
      return 3;
    case AlleleFit::kMismatch:
      break;
  }
  return 4;
}

using SnpIndex = std::unordered_map<std::string, std::vector<uint32_t>>;

std::string PlaceKey(const std::string& chromosome, int64_t position) {
  return fmt::format("{}:{}", chromosome, position);
}

class Matcher {
 public:
  Matcher(const ModelSnps& snps, const CallColumns& calls)
      : snps_(snps), variants_(calls.source().variants()), calls_(calls) {
    candidates_.resize(snps.size());
    at_place_.resize(snps.size());
  }

  // Candidates of all model SNPs: those at the same place, else those of the same name.
  void Collect() {
    SnpIndex by_place;
    for (size_t j = 0; j < snps_.size(); ++j) {
      by_place[PlaceKey(NormaliseChromosome(snps_.chromosomes[j]), snps_.positions[j])].push_back(
          static_cast<uint32_t>(j));
    }
    ForEachVariant([&](size_t v, const VariantRecord& record, const std::string& chromosome) {
      const auto found = by_place.find(PlaceKey(chromosome, record.position));
      if (found == by_place.end()) return;
      for (const uint32_t j : found->second) {
        candidates_[j].push_back({v, Compare(j, record)});
        at_place_[j] = true;
      }
    });
    SnpIndex by_name;
    for (size_t j = 0; j < snps_.size(); ++j) {
      if (!at_place_[j]) by_name[snps_.names[j]].push_back(static_cast<uint32_t>(j));
    }
    ForEachVariant([&](size_t v, const VariantRecord& record, const std::string&) {
      const auto found = by_name.find(std::string(record.id));
      if (found == by_name.end()) return;
      for (const uint32_t j : found->second) {
        const AlleleMatch alleles = Compare(j, record);
        if (alleles.fit != AlleleFit::kMismatch) candidates_[j].push_back({v, alleles});
      }
    });
  }

  Result<SnpMatch> Choose(size_t j) const {
    SnpMatch match;
    match.by_position = at_place_[j];
    std::vector<Candidate> best;
    for (const Candidate& candidate : candidates_[j]) {
      const int rank = RankOf(candidate.alleles.fit);
      match.num_candidates += rank < 4;
      if (!best.empty() && rank > RankOf(best.front().alleles.fit)) continue;
      if (!best.empty() && rank < RankOf(best.front().alleles.fit)) best.clear();
      best.push_back(candidate);
    }
    if (best.empty()) return match;
    size_t chosen = 0;
    if (best.size() > 1 && best.front().alleles.fit != AlleleFit::kMismatch) {
      TALLELE_ASSIGN(chosen, FewestMissing(best));
    }
    match.variant = best[chosen].variant;
    match.alleles = best[chosen].alleles;
    match.state = match.alleles.fit == AlleleFit::kMismatch ? SnpMatch::State::kMismatch
                                                            : SnpMatch::State::kMatched;
    match.position_differs = !match.by_position;
    return match;
  }

 private:
  AlleleMatch Compare(size_t j, const VariantRecord& record) const {
    if (record.num_alleles != 2) return {};
    return CompareAlleles(snps_.counted_alleles[j], snps_.other_alleles[j], record.first_allele,
                          record.second_allele);
  }

  template <typename Use>
  void ForEachVariant(Use use) const {
    for (const ChromosomeRun& run : variants_.runs()) {
      const std::string chromosome = NormaliseChromosome(run.label);
      for (size_t v = run.range.first; v < run.range.first + run.range.count; ++v) {
        use(v, variants_[v], chromosome);
      }
    }
  }

  Result<size_t> FewestMissing(const std::vector<Candidate>& best) const {
    size_t chosen = 0;
    int64_t fewest = -1;
    for (size_t i = 0; i < best.size(); ++i) {
      TALLELE_ASSIGN(const CodeCounts counts,
                     calls_.CountVariant(best[i].variant, best[i].alleles.use));
      if (fewest >= 0 && counts.of[3] >= fewest) continue;
      fewest = counts.of[3];
      chosen = i;
    }
    return chosen;
  }

  const ModelSnps& snps_;
  const VariantIndex& variants_;
  const CallColumns& calls_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<bool> at_place_;
};

// Settles the strand of a palindromic SNP by frequency, or drops it.
Result<void> SettleByFrequency(double model_mean, const CallColumns& calls, SnpMatch& match) {
  TALLELE_ASSIGN(const CodeCounts counts, calls.CountVariant(match.variant, match.alleles.use));
  const double model = model_mean / 2 - 0.5;
  const double cohort = counts.observed() > 0 ? counts.mean() / 2 - 0.5 : 0;
  if (!(std::abs(model) >= kUnclearFrequency && std::abs(cohort) >= kUnclearFrequency)) {
    match.state = SnpMatch::State::kAmbiguousDropped;
  } else if ((model < 0) != (cohort < 0)) {
    match.alleles.use =
        match.alleles.use == StripUse::kFirst ? StripUse::kSecond : StripUse::kFirst;
    match.alleles.fit =
        match.alleles.fit == AlleleFit::kSwapped ? AlleleFit::kFlipped : AlleleFit::kFlippedSwapped;
  }
  return {};
}

}  // namespace

Result<std::vector<SnpMatch>> MatchSnps(const ModelSnps& snps, std::span<const double> means,
                                        const CallColumns& calls, AmbiguousSnps ambiguous) {
  Matcher matcher(snps, calls);
  matcher.Collect();
  std::vector<SnpMatch> matches;
  matches.reserve(snps.size());
  for (size_t j = 0; j < snps.size(); ++j) {
    TALLELE_ASSIGN(SnpMatch match, matcher.Choose(j));
    if (match.state == SnpMatch::State::kMatched && match.alleles.palindromic) {
      if (ambiguous == AmbiguousSnps::kDrop) match.state = SnpMatch::State::kAmbiguousDropped;
      if (ambiguous == AmbiguousSnps::kFrequency) {
        TALLELE_TRY(SettleByFrequency(means[j], calls, match));
      }
    }
    matches.push_back(match);
  }
  return matches;
}

}  // namespace tallele

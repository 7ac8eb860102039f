#ifndef TALLELE_ANCESTRY_MATCH_H_
#define TALLELE_ANCESTRY_MATCH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ancestry/allele_rules.h"
#include "ancestry/call_columns.h"
#include "ancestry/model/package.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// What to do with A/T and C/G SNPs.
enum class AmbiguousSnps {
  kFaceValue,  // letters as they stand, right for harmonised data
  kDrop,
  kFrequency,  // by the cohort's frequency; dropped within 0.1 of one half
};

struct MatchRequest {
  CallSourceRequest calls;
  std::string work_dir;
  AmbiguousSnps ambiguous = AmbiguousSnps::kFaceValue;
  double max_mismatch_share = 0.2;  // of shared positions; more is an error
  double warn_swapped_share = 0.2;  // of matched SNPs; more is a warning
  double min_correlation = 0.5;     // of mean genotypes; less is an error
  StreamRowsOptions rows;
};

// What became of one model SNP.
struct SnpMatch {
  enum class State { kAbsent, kMatched, kMismatch, kAmbiguousDropped };
  State state = State::kAbsent;
  AlleleMatch alleles;
  bool by_position = true;        // else by identifier
  bool position_differs = false;  // found by identifier at another place
  size_t variant = 0;             // of the cohort, when there was a candidate
  size_t num_candidates = 0;
  CodeCounts counts;  // of matched SNPs: model genotypes in the cohort
};

struct MatchSummary {
  size_t num_people = 0;
  size_t num_model_snps = 0;
  size_t num_matched = 0;
  size_t num_exact = 0;
  size_t num_swapped = 0;
  size_t num_flipped = 0;  // swapped or not
  size_t num_one_allele = 0;
  size_t num_ambiguous = 0;  // palindromic and kept
  size_t num_ambiguous_dropped = 0;
  size_t num_mismatch = 0;
  size_t num_absent = 0;
  size_t num_several = 0;  // model SNPs with more than one acceptable candidate
  size_t num_by_id = 0;
  size_t num_other_position = 0;
  double scale = 1;                   // model SNPs over matched SNPs
  std::optional<double> correlation;  // of mean genotypes, with 10 or more SNPs that vary
  std::vector<std::string> findings;  // build and allele order, in words
};

// Chooses the cohort's variant for each model SNP by the rules of docs/formats/packed-store.md.
// `means` are the model's mean genotypes. Calls are read only for palindromic SNPs (by frequency)
// and for candidates that are otherwise equal.
Result<std::vector<SnpMatch>> MatchSnps(const ModelSnps& snps, std::span<const double> means,
                                        const CallColumns& calls, AmbiguousSnps ambiguous);

// Lines a cohort up with a model: <work_dir>/matched.store (2-bit rows over the matched SNPs),
// match_report.tsv (a line for each model SNP) and match_summary.json. The report is written even
// when the cohort is then refused; the store is published last.
Result<MatchSummary> MatchCohort(const std::vector<ModelPackage>& packages,
                                 const MatchRequest& request, EventSink& events,
                                 const CancelToken& cancel);

// The summary of the store that an earlier MatchCohort left in the work folder, if it would make
// the same one again: the model's SNPs and means, the options and the state of the cohort's files
// (size, inode, times of change) are what they were. Nothing when there is no such store or it is
// damaged; errors when the cohort's files cannot be found.
Result<std::optional<MatchSummary>> FindEarlierMatch(const std::vector<ModelPackage>& packages,
                                                     const MatchRequest& request);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MATCH_H_

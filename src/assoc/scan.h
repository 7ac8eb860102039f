#ifndef TALLELE_ASSOC_SCAN_H_
#define TALLELE_ASSOC_SCAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assoc/scan_request.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "results/correction_summary.h"
#include "results/scan_profile.h"
#include "results/trait_output.h"

namespace tallele {

// A trait that was not (or not fully) analysed, and why.
struct TraitProblem {
  std::string trait;
  std::string reason;
};

// A planned scan: all inputs read and checked, nothing written yet.
class ScanPlan {
 public:
  virtual ~ScanPlan() = default;
  // What will be done, for the user: people and why others were left out, traits and their
  // missing patterns, covariates and rank, variants, memory, threads, instruction set.
  virtual std::vector<std::string> Describe() const = 0;
  virtual const std::vector<TraitProblem>& problems() const = 0;
  virtual size_t num_traits() const = 0;
};

struct TraitSummary {
  TraitFiles files;
  size_t num_rows = 0;
  size_t num_failed_rows = 0;
  double lambda_gc = 0;  // median CHISQ / 0.4549364; NaN without rows
  std::string top_id;
  double top_log10p = 0;
  size_t skipped_low_mac = 0;
  size_t skipped_low_info = 0;
  size_t skipped_low_homs = 0;  // recessive test alone
  CorrectionSummary corrections;
};

struct ScanSummary {
  std::vector<TraitSummary> traits;
  std::string wide_text_file;          // --no-split; empty: not written
  std::vector<TraitProblem> problems;  // non-empty: exit code 3
  size_t num_variants = 0;             // tested by this attempt
  size_t num_restored_variants = 0;    // finished by earlier ones
  uint64_t num_part_bytes = 0;         // of the parts that this attempt published
  size_t num_not_biallelic = 0;
  size_t num_high_ploidy = 0;
  std::vector<std::string> skipped_ids;  // of those two kinds, bounded list
  double seconds = 0;
  std::optional<ScanProfile> profile;  // with Telemetry::kProfile
};

// Opens genotypes, tables and predictions and checks everything that can be checked.
Result<std::unique_ptr<ScanPlan>> PlanScan(const ScanRequest& request, EventSink& events);

// A run that has taken its folder; the folder is free again when it is destroyed.
class ScanRun {
 public:
  virtual ~ScanRun() = default;
};

// Takes the run folder: the lock, what an earlier attempt left, the manifests. `plan` must outlive
// the run.
Result<std::unique_ptr<ScanRun>> BeginScan(const ScanPlan& plan, EventSink& events);

// Runs it. On an error or a cancellation nothing incomplete is under a final name, and finished
// parts stay for --resume.
Result<ScanSummary> RunScan(const ScanPlan& plan, ScanRun& run, EventSink& events,
                            const CancelToken& cancel);
// Both in one.
Result<ScanSummary> RunScan(const ScanPlan& plan, EventSink& events, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_H_

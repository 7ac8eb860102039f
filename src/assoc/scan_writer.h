#ifndef TALLELE_ASSOC_SCAN_WRITER_H_
#define TALLELE_ASSOC_SCAN_WRITER_H_

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "assoc/resume.h"
#include "assoc/scan_plan.h"
#include "results/run_statistics.h"

namespace tallele {

// What the test of one block leaves behind.
struct BlockResults {
  size_t num_variants = 0;
  std::vector<TraitRows> traits;  // [cohort's traits]
  std::vector<UnionRow> union_rows;
  SkippedVariants skipped;
  FitReport report;
  std::shared_ptr<const ChromosomeState> state;  // null: no variants

  void Clear();
};

// Collects blocks in order: rows to the traits' outputs, counts to the summary, progress to the
// user. One thread at a time.
class ScanWriter {
 public:
  static Result<std::unique_ptr<ScanWriter>> Open(const PlannedScan& plan, RunState& run,
                                                  EventSink& events);

  // Rows of a block that lies inside `part`.
  Result<void> Append(VariantRange part, const BlockResults& results);
  // Publishes and records the part for the traits that lack it.
  Result<void> FinishPart(VariantRange part);
  // Publishes everything, sample lists included.
  Result<ScanSummary> Finish();

  // Keeps what is written of a chromosome's null models: who is in them, null Firth models.
  void NoteNullModels(const ChromosomeState& state);

 private:
  struct Trait {
    std::unique_ptr<TraitOutput> output;
    size_t next_restored = 0;  // among the parts of earlier attempts
    PartCounts counts;         // of the open part
    TraitStatistics statistics;
    TraitSummary summary;
    PersonSet people;  // base people who were in some test
    NullFirthRows null_firth;
  };

  ScanWriter(const PlannedScan& plan, RunState& run, EventSink& events);
  Result<void> AppendWide(VariantRange part, const BlockResults& results);
  Result<void> RestoreWideUpTo(size_t variant);
  void NoteSkipped(const std::vector<size_t>& variants, size_t& count);
  void NoteChromosome(VariantRange part);
  void EndChromosome();
  void NoteProblems(const FitReport& report);
  void RestoreCounts();
  Result<void> RestoreUpTo(size_t variant, size_t i);
  static void AddCounts(const PartCounts& counts, TraitSummary& summary);
  void ReportProgress(bool final);
  void NoteNullFirth(int code, const BinaryNull& null);
  Trait& TraitOf(size_t cohort_trait);
  Result<void> WriteNullFirthModels();
  Result<void> WritePeople(const Trait& trait, const std::string& name) const;

  const PlannedScan& plan_;
  RunState& run_;
  EventSink& events_;
  std::vector<Trait> traits_;       // [plan.traits]
  std::unique_ptr<WideText> wide_;  // null: text is split by trait
  size_t next_restored_wide_ = 0;   // among the parts of earlier attempts
  ScanSummary summary_;
  std::string chromosome_;       // at work
  std::set<std::string> notes_;  // that the user has read
  std::shared_ptr<const ChromosomeState> last_state_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_report_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_WRITER_H_

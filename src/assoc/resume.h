#ifndef TALLELE_ASSOC_RESUME_H_
#define TALLELE_ASSOC_RESUME_H_

#include <memory>
#include <string>
#include <vector>

#include "assoc/scan.h"
#include "assoc/scan_plan.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "results/run_lock.h"
#include "results/run_manifest.h"

namespace tallele {

// Compares a planned run with what its folder holds, without touching anything. With --resume:
// an error that names the trait, the first field that differs and both values; a manifest that
// cannot be read; a trait folder or part that belongs to no trait or part of this plan.
Result<void> CheckResume(const PlannedScan& plan, EventSink& events);

// A run that has its folder: the lock, the manifests and which parts are still to do. Traits are
// numbered as in `plan.traits`. One thread at a time.
class RunState final : public ScanRun {
 public:
  // Takes the lock, compares again under it, removes an earlier run (--overwrite) or leftovers
  // (--resume), checks every recorded part, and writes the manifests. Parts that are missing or
  // damaged are computed again, with a warning. `plan` must outlive the state.
  static Result<std::unique_ptr<RunState>> Begin(const PlannedScan& plan, EventSink& events);

  // Ranges that some trait lacks, in order; all of the grid for a new run.
  const std::vector<VariantRange>& parts_to_compute() const { return to_compute_; }
  // The traits (indices into the cohort's) that lacked a part to compute when the run began. Safe
  // for other threads.
  const std::vector<size_t>& TraitsWithout(VariantRange part) const;
  // Parts of a trait that earlier attempts published, in order.
  const std::vector<CommittedPart>& restored(size_t i) const { return traits_[i].restored; }
  bool resumed() const { return resumed_; }

  std::string parts_folder(size_t i) const { return traits_[i].folder + "/parts"; }
  // Where the lines of a trait's parts are kept; those of --no-split lie with the first trait.
  std::string text_folder(size_t i) const;
  std::string plan_hash(size_t i) const;
  const std::vector<std::string>& problems(size_t i) const { return traits_[i].manifest.problems; }
  void AddProblem(size_t i, const std::string& reason);
  // A file outside the run folder that was published for the trait.
  Result<void> AddOutput(size_t i, const std::string& path);

  // Stands before a part is published: the lock is still ours, the inputs are unchanged.
  Result<void> CheckBeforePublishing() const;
  // Records a published part: from here on it counts.
  Result<void> Commit(size_t i, CommittedPart part);

  // The end of the run, in the manifests of all traits. Every one is tried; the first error is
  // returned.
  Result<void> Complete();
  // After that: removes the lines that were kept for a resume. An error names what stays behind.
  Result<void> RemoveKeptText();
  Result<void> Fail(const Error& error, int signal_number);

 private:
  struct Trait {
    std::string folder;
    RunManifest manifest;
    std::vector<CommittedPart> restored;
  };

  explicit RunState(const PlannedScan& plan) : plan_(plan) {}
  Result<void> LoadTraits(EventSink& events);
  Result<void> CheckParts(Trait& trait, EventSink& events);
  void ForgetPartsWithoutText(Trait& trait, EventSink& events);
  void ForgetPartsThatATraitLacks();
  Result<void> RemoveUnrecorded(EventSink& events);
  Result<void> StartTrait(Trait& trait);
  Result<void> Write(Trait& trait);
  Result<void> WriteAll();
  void ChooseParts();

  const PlannedScan& plan_;
  std::unique_ptr<RunLock> lock_;  // none without Parquet
  std::vector<Trait> traits_;
  std::vector<VariantRange> grid_;
  std::vector<VariantRange> to_compute_;
  std::vector<std::vector<size_t>> lacking_;  // [to_compute_]
  bool resumed_ = false;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_RESUME_H_

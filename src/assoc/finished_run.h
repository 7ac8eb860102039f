#ifndef TALLELE_ASSOC_FINISHED_RUN_H_
#define TALLELE_ASSOC_FINISHED_RUN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "assoc/scan.h"
#include "assoc/scan_request.h"

namespace tallele {

// A run that has nothing left to do, as its manifests tell it.
struct FinishedRun {
  struct Trait {
    std::string name;
    std::string folder;
    size_t num_rows = 0;
  };
  std::vector<Trait> traits;
  std::vector<TraitProblem> problems;  // non-empty: exit code 3
};

// With --resume: whether the run folder holds exactly this run, finished. Told from manifests and
// from sizes and times of files alone, without opening genotypes or tables, so that a workflow may
// ask again and again. Nothing when anything is different or cannot be told; planning then compares
// contents and has the last word.
std::optional<FinishedRun> FindFinishedRun(const ScanRequest& request);

}  // namespace tallele

#endif  // TALLELE_ASSOC_FINISHED_RUN_H_

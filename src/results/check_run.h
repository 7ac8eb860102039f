#ifndef TALLELE_RESULTS_CHECK_RUN_H_
#define TALLELE_RESULTS_CHECK_RUN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "results/run_manifest.h"

namespace tallele {

// One trait of a run folder, as its manifest has it.
struct CheckedTrait {
  std::string folder;  // name inside the run folder
  RunStatus status = RunStatus::kRunning;
  size_t num_parts = 0;  // that are recorded and in order
  size_t num_grid = 0;   // that make the dataset complete
  size_t num_rows = 0;
};

struct RunCheck {
  std::vector<CheckedTrait> traits;
  std::vector<std::string> problems;  // one line each; empty: all is as recorded
  bool completed = false;             // every trait is
};

// Verifies a run folder, or one trait's folder, against the manifests, without genotypes: every
// recorded part is present, of its size, digest, schema, rows and range; no other part lies there;
// the manifests are whole; traits share the genotypes and the grid. A run that has not finished is
// no problem by itself. Errors: the folder cannot be listed or holds no run.
Result<RunCheck> CheckRun(const std::string& folder, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_CHECK_RUN_H_

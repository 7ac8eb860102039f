#ifndef TALLELE_ASSOC_BATCH_INPUTS_H_
#define TALLELE_ASSOC_BATCH_INPUTS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assoc/scan_request.h"
#include "base/file_env.h"
#include "base/kept_file_env.h"
#include "cohort/loco_predictions.h"
#include "genotype/genotype_source.h"

namespace tallele {

// What the runs of a batch read, so that a file that several of them name is read once: tables and
// lists as bytes, genotype files with their index, prediction files as the index of their rows (the
// row of a chromosome is read by each run that tests it). Everything is checked against the file on
// disk before it is used again. For one run at a time.
class BatchInputs {
 public:
  explicit BatchInputs(FileEnv& base = PosixFileEnv());

  // One more run of the batch; all are announced before the first starts.
  void Expect(const ScanRequest& request);

  FileEnv& env() { return env_; }
  LocoIndexes& loco_indexes() { return loco_indexes_; }

  // The genotype file of the request if an earlier run opened it and neither it nor what was read
  // with it (.bgi, .bim, .fam) has changed.
  std::shared_ptr<const GenotypeSource> FindSource(const ScanRequest& request);
  // Keeps it as long as later runs are announced that name it.
  void KeepSource(const ScanRequest& request, std::shared_ptr<const GenotypeSource> source);

 private:
  using Companion = std::pair<std::string, std::optional<FileIdentity>>;  // absent: no such file
  struct Genotypes {
    size_t runs_to_come = 0;
    std::shared_ptr<const GenotypeSource> source;
    std::vector<Companion> companions;
  };
  std::vector<Companion> CompanionsOf(const ScanRequest& request);

  KeptFileEnv env_;
  LocoIndexes loco_indexes_;
  std::map<std::string, Genotypes> genotypes_;
};

// Through which the inputs of a request are read.
FileEnv& InputEnv(const ScanRequest& request);

}  // namespace tallele

#endif  // TALLELE_ASSOC_BATCH_INPUTS_H_

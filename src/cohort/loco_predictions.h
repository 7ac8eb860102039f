#ifndef TALLELE_COHORT_LOCO_PREDICTIONS_H_
#define TALLELE_COHORT_LOCO_PREDICTIONS_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// Predictions of one trait for one chromosome.
struct LocoVector {
  std::vector<double> values;  // [base]; NaN where the file has no value
  size_t absent_people = 0;    // base people whose id is not in the file
  size_t missing_values = 0;   // base people with NA on this chromosome
};

struct LocoIndex;

// Indexes of prediction files, kept for runs of one process that use the same files: a file is
// indexed again only when it has changed. For one thread at a time.
class LocoIndexes {
 public:
  LocoIndexes();
  ~LocoIndexes();
  // Errors: as LocoPredictions::Open has them for a file.
  Result<std::shared_ptr<const LocoIndex>> Find(const std::string& path, int num_autosomes,
                                                FileEnv& env);

 private:
  std::map<std::pair<std::string, int>, std::shared_ptr<const LocoIndex>> indexes_;
  std::map<std::string, std::shared_ptr<const std::string>> headers_;  // by digest
};

// Where predictions are read from.
struct LocoInputs {
  FileEnv* env = nullptr;          // null: the operating system's files
  LocoIndexes* indexes = nullptr;  // null: files are indexed for this call alone
};

// Leave-one-chromosome-out predictions of several traits, as REGENIE's step 1 writes them
// (`regenie.md` 3.3). `Open` indexes each file once (the line and a digest of every
// chromosome row); `Load` parses only the row that is asked for and fails if the file
// changed in between. Thread-safe after `Open`.
class LocoPredictions {
 public:
  // `pred_list` is the list file; relative paths in it are relative to its folder. Ids are
  // matched as whole FID_IID tokens against `base_keys`. A trait without an entry is not an
  // error here: see `HasTrait`.
  static Result<std::unique_ptr<LocoPredictions>> Open(const std::string& pred_list,
                                                       std::span<const std::string> traits,
                                                       std::span<const std::string> base_keys,
                                                       int num_autosomes, EventSink& events,
                                                       const LocoInputs& inputs = {});
  virtual ~LocoPredictions() = default;

  virtual bool HasTrait(size_t trait) const = 0;
  virtual bool HasChromosome(size_t trait, int chromosome_code) const = 0;
  virtual Result<LocoVector> Load(size_t trait, int chromosome_code) const = 0;
  // The file of a trait and the SHA-256 of its indexed content, for manifests.
  virtual std::string path(size_t trait) const = 0;
  virtual std::string fingerprint(size_t trait) const = 0;
};

}  // namespace tallele

#endif  // TALLELE_COHORT_LOCO_PREDICTIONS_H_

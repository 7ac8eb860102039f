#ifndef TALLELE_ANCESTRY_MODEL_MISSING_STUDY_H_
#define TALLELE_ANCESTRY_MODEL_MISSING_STUDY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/model/split_people.h"
#include "ancestry/model/training_dataset.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "kernels/cpu_target.h"

namespace tallele {

struct MissingStudyRequest {
  std::string partition;  // may be empty for kAll, and for kTest of packages that know their rows
  SplitSet set = SplitSet::kTest;
  std::vector<double> fractions = {0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99};
  int64_t num_repeats = 20;  // of every fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all
  CpuTarget target = CpuTarget::kScalar;
};

// What one model gets right when some of its SNPs are absent.
struct MissingStudyRow {
  std::string model;
  double missing = 0;  // fraction of the SNPs that was asked for
  int64_t repeat = 0;
  size_t num_snps_left = 0;
  double scale = 1;  // factor on the inputs
  int64_t num_right = 0;
  int64_t num_people = 0;

  double accuracy() const {
    return static_cast<double>(num_right) / static_cast<double>(num_people);
  }
};

// The SNPs that are left when a fraction of them is absent. The smaller part of the SNPs, removed
// up to one half and kept above it, is a group of round(min(f, 1 - f) * SNPs), at least one; a
// random order of all SNPs is cut into as many whole groups as it has, which are taken in turn, so
// that each SNP is in about one of them; then a new order is drawn. The order of round r is the
// shuffle (from the last place down, each swapped with one up to it) of stream r of `seed`, the
// same for all fractions.
class SnpGroups {
 public:
  // `fraction` is above 0 and below 1.
  SnpGroups(size_t num_snps, double fraction, uint64_t seed);

  size_t groups_a_round() const { return num_snps_ / group_size_; }
  // Ascending.
  std::vector<uint32_t> Left(int64_t repeat) const;

 private:
  size_t num_snps_;
  bool removes_;  // the group, rather than the others
  size_t group_size_;
  uint64_t seed_;
};

// Every model over the people of its fold's list, once with all SNPs (missing = 0), then for every
// fraction and repeat with some absent, scaled as `predict` does for a cohort without them: model
// SNPs over those left, without those that did not vary in training. By fold, fraction, repeat and
// seed. The same for any number of threads. Errors: fractions that are not between 0 and 1, or that
// leave no SNP; what SplitPeople::Open refuses.
Result<std::vector<MissingStudyRow>> StudyMissingSnps(const std::vector<ModelPackage>& packages,
                                                      const TrainingDataset& dataset,
                                                      const MissingStudyRequest& request,
                                                      EventSink& events, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_MISSING_STUDY_H_

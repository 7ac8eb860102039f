#ifndef TALLELE_ANCESTRY_MODEL_ACCURACY_CHECK_H_
#define TALLELE_ANCESTRY_MODEL_ACCURACY_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/model/training_dataset.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "kernels/cpu_target.h"

namespace tallele {

// How many people of each class were called as what.
struct AccuracyReport {
  std::string name;
  std::vector<std::string> class_names;
  // [truth][called]; the last column counts unassigned people and labels that are no class.
  std::vector<std::vector<size_t>> confusion;

  explicit AccuracyReport(std::string report_name, std::vector<std::string> names);
  void Add(size_t truth, std::optional<size_t> called) {
    ++confusion[truth][called.value_or(class_names.size())];
  }
  size_t num_people() const;
  size_t num_correct() const;
  size_t people_of(size_t truth) const;
  double accuracy() const;  // NaN without people
};

// Text table: `class people correct accuracy` for each class, then the confusion table.
std::string FormatReport(const AccuracyReport& report);

// Held-out accuracy of each package: its model over its fold's test rows of `dataset`. With
// `partition` the test rows come from that file instead of the package.
struct PackageCheckRequest {
  std::string partition;
  int num_threads = 0;
  CpuTarget target = CpuTarget::kScalar;
};
Result<std::vector<AccuracyReport>> CheckPackages(const std::vector<ModelPackage>& packages,
                                                  const TrainingDataset& dataset,
                                                  const PackageCheckRequest& request,
                                                  EventSink& sink, const CancelToken& cancel);

// Accuracy of a table of predictions (ours, the wrapper's, or upstream's combined table) against
// labels: tab-separated, a header line, the sample and its label.
struct PredictionCheckRequest {
  std::string predictions;
  std::string labels;
  std::string label_column;  // by name; empty: the second column
  std::string partition;     // restricts to the fold's test samples
  int64_t fold = 0;
};
Result<AccuracyReport> CheckPredictions(const PredictionCheckRequest& request);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_ACCURACY_CHECK_H_

#ifndef TALLELE_ANCESTRY_MODEL_EVALUATE_H_
#define TALLELE_ANCESTRY_MODEL_EVALUATE_H_

#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/model/split_people.h"
#include "ancestry/model/training_dataset.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "kernels/cpu_target.h"

namespace tallele {

struct EvaluateRequest {
  std::string partition;  // may be empty for kAll, and for kTest of packages that know their rows
  SplitSet set = SplitSet::kTest;
  std::string out;
  int num_threads = 0;  // 0: all
  CpuTarget target = CpuTarget::kScalar;
};

// Logits and last hidden layer of every model for the people of its fold's list, as an `.npz`:
// <model>.samples (rows of the dataset), .labels, .logits (people, classes), .hidden (people, width
// of the last layer), as doubles, and class_label_names. Memory: a model's people times classes and
// units. Returns each model's share of people that get their class.
Result<std::vector<double>> EvaluatePackages(const std::vector<ModelPackage>& packages,
                                             const TrainingDataset& dataset,
                                             const EvaluateRequest& request, EventSink& events,
                                             const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_EVALUATE_H_

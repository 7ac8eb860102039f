#ifndef TALLELE_ANCESTRY_TRAIN_MODEL_RUN_H_
#define TALLELE_ANCESTRY_TRAIN_MODEL_RUN_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ancestry/train/train_models.h"

namespace tallele {

// One model of a training, with its folder.
struct ModelTask {
  const TrainRequest& request;
  const TrainConfig& config;
  const std::string& names_checksum;  // of the dataset
  int64_t seed;
  int64_t fold;
  std::mutex& packages;  // held while the output folder's packages are written
};

// "<out>/seed_78_fold_0".
std::string ModelFolder(const std::string& out, int64_t seed, int64_t fold);

// An error when the folder holds a training already and `resume` was not asked for.
Result<void> CheckModelFolder(const std::string& folder, bool resume);

// Trains the model, or goes on with it, and writes all its files. `on_epoch` is called after every
// epoch.
Result<ModelOutcome> RunModel(const ModelTask& task, std::shared_ptr<const FoldData> data,
                              const std::function<void(const EpochRecord&)>& on_epoch,
                              EventSink& events, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_MODEL_RUN_H_

#ifndef TALLELE_ANCESTRY_TRAIN_FOLD_SOURCE_H_
#define TALLELE_ANCESTRY_TRAIN_FOLD_SOURCE_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/fold_counts.h"
#include "ancestry/train/train_models.h"

namespace tallele {

// Opens the dataset of a training and hands out its folds; models of one fold share its data.
class FoldSource {
 public:
  // Errors: files that do not fit each other, folds that are not there, classes without training
  // people, a regression without values. Warns about what makes trainings fail.
  static Result<std::unique_ptr<FoldSource>> Open(const TrainRequest& request, EventSink& events,
                                                  const CancelToken& cancel);

  const std::vector<int64_t>& folds() const { return folds_; }
  const TrainingPeople& people() const { return *people_; }
  // SHA-256 over people, SNPs, classes and labels.
  const std::string& names_checksum() const { return names_checksum_; }

  // The data of a fold, made once and kept as long as someone uses them. Thread-safe.
  Result<std::shared_ptr<const FoldData>> Get(int64_t fold);

 private:
  explicit FoldSource(const TrainRequest& request) : request_(request) {}
  Result<void> Load(EventSink& events, const CancelToken& cancel);
  Result<void> CountGenotypes(EventSink& events, const CancelToken& cancel);
  Result<std::shared_ptr<const FoldData>> Make(int64_t fold) const;
  // "fold 0 of input_stats.npz", for errors.
  std::string InputsPlace(int64_t fold) const;
  Result<void> CheckVariation(const FoldInputs& inputs, int64_t fold) const;

  const TrainRequest& request_;
  std::shared_ptr<const TrainingDataset> dataset_;
  std::shared_ptr<TrainingPeople> people_;
  std::string names_checksum_;
  ModelSnps snps_;
  std::vector<Fold> partition_;
  std::vector<int64_t> folds_;
  std::optional<FoldCounts> counts_;  // of folds_, in their order
  std::mutex mutex_;
  std::map<int64_t, std::weak_ptr<const FoldData>> made_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_FOLD_SOURCE_H_

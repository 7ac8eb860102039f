#ifndef TALLELE_ANCESTRY_MODEL_SPLIT_PEOPLE_H_
#define TALLELE_ANCESTRY_MODEL_SPLIT_PEOPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/model/training_dataset.h"

namespace tallele {

enum class SplitSet { kTrain, kValid, kTest, kAll };

// "train", "valid", "test" or "all", the value of --set.
Result<SplitSet> SplitSetNamed(const std::string& word);

// Whom of its training dataset a model is evaluated on.
class SplitPeople {
 public:
  // `partition` may be empty for kAll, and for kTest of packages that know their rows. Errors: a
  // dataset without the models' SNPs and classes in their order, a partition of other people.
  static Result<SplitPeople> Open(const std::vector<ModelPackage>& packages,
                                  const TrainingDataset& dataset, const std::string& partition,
                                  SplitSet set);

  // Rows of the dataset, in the partition's order.
  Result<std::vector<int64_t>> Of(const ModelPackage& package) const;

 private:
  SplitPeople() = default;

  std::string partition_;
  SplitSet set_ = SplitSet::kTest;
  size_t num_people_ = 0;
  std::vector<std::vector<int64_t>> lists_;  // of every fold of the partition
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_SPLIT_PEOPLE_H_

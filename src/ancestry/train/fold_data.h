#ifndef TALLELE_ANCESTRY_TRAIN_FOLD_DATA_H_
#define TALLELE_ANCESTRY_TRAIN_FOLD_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/partition.h"
#include "ancestry/train/row_source.h"

namespace tallele {

// The people of a dataset, shared by all models in training.
struct TrainingPeople {
  std::shared_ptr<const RowSource> rows;
  size_t num_snps = 0;
  std::vector<int64_t> classes;  // of each row of the dataset
  std::vector<float> values;     // the trait of a regression, else empty
  std::vector<std::string> class_names;

  bool is_regression() const { return !values.empty(); }
};

// What the models of one fold share.
struct FoldData {
  int64_t fold = 0;
  std::shared_ptr<const TrainingPeople> people;
  std::shared_ptr<const FoldInputs> inputs;
  std::vector<float> descriptions;  // FoldInputs::Descriptions; empty for plain networks
  Fold rows;                        // training, validation and test rows of the dataset
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_FOLD_DATA_H_

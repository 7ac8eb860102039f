#ifndef TALLELE_ANCESTRY_MODEL_PARTITION_FILE_H_
#define TALLELE_ANCESTRY_MODEL_PARTITION_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// The test set of one fold of a partition.
struct FoldTestSet {
  std::vector<int64_t> rows;         // of the dataset
  std::vector<std::string> samples;  // in the same order
  int64_t dataset_people = 0;        // in all three lists
};

// Reads `folds_indexes` and `folds_samples` of upstream's partition `.npz`.
Result<FoldTestSet> ReadFoldTestSet(const std::string& path, int64_t fold);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PARTITION_FILE_H_

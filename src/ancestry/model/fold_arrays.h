#ifndef TALLELE_ANCESTRY_MODEL_FOLD_ARRAYS_H_
#define TALLELE_ANCESTRY_MODEL_FOLD_ARRAYS_H_

#include <cstdint>
#include <string>

#include "ancestry/model/package.h"
#include "base/result.h"

namespace tallele {

// Sets means and deviations from an `.npz` with `means_by_fold` and `sd_by_fold` (folds, SNPs), or
// with `mean` and `std` (SNPs); one row serves every fold. Without `need_sd`, deviations that are
// not there become 1.
Result<void> ReadFoldStatistics(const std::string& path, int64_t fold, bool need_sd,
                                FoldInputs& inputs);

// Sets the embedding from an `.npz` with `emb` or `embedding`: (folds, SNPs, width) or
// (SNPs, width).
Result<void> ReadFoldEmbedding(const std::string& path, int64_t fold, FoldInputs& inputs);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_FOLD_ARRAYS_H_

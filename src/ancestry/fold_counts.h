#ifndef TALLELE_ANCESTRY_FOLD_COUNTS_H_
#define TALLELE_ANCESTRY_FOLD_COUNTS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ancestry/genotype_rows.h"
#include "ancestry/partition.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Which lists of a fold count.
enum class SampleSet { kTraining, kTrainingAndValidation, kValidation, kTest };

struct FoldCountRequest {
  SampleSet set = SampleSet::kTraining;
  std::string partition = "the partition";  // where the folds come from, for errors
  size_t num_threads = 0;
  size_t block_bytes = size_t{256} << 20;  // of rows in memory
};

// Genotype counts of every SNP in every fold and class. People who are in the same lists and class
// form a cell; the rows are read once and added up by cell, whatever the number of folds.
class FoldCounts {
 public:
  // `classes`: class of each person, from 0 to num_classes - 1. Errors: a fold in which a class has
  // no people, named by `class_names`; reading; interruption.
  static Result<FoldCounts> Count(const GenotypeRows& rows, const std::vector<Fold>& folds,
                                  std::span<const int64_t> classes,
                                  std::span<const std::string> class_names,
                                  const FoldCountRequest& request, EventSink& events,
                                  const CancelToken& cancel);

  size_t num_folds() const { return class_sizes_.size(); }
  size_t num_classes() const { return num_classes_; }
  size_t num_snps() const { return num_snps_; }
  // People of a class in a fold's list, those with missing calls included.
  int64_t class_size(size_t fold, size_t cls) const { return class_sizes_[fold][cls]; }
  // counts[i] of `code` (1, 2 or 3 = missing) at SNPs first, first+1 ..., added to what is there.
  void Add(size_t fold, size_t cls, int code, size_t first, std::span<int64_t> counts) const;

 private:
  size_t num_snps_ = 0;
  size_t num_classes_ = 0;
  std::vector<std::vector<int64_t>> class_sizes_;                  // [fold][class]
  std::vector<std::vector<std::vector<size_t>>> cells_of_;         // [fold][class]
  std::vector<std::array<std::vector<uint32_t>, 3>> cell_counts_;  // [cell][code - 1][snp]
};

// Mean and deviation of each SNP in each fold, [fold * num_snps + snp]; NaN where nobody (for the
// deviation, only one person) has a call. sd is over n - 1, plus 1e-6, as upstream has it.
struct InputStatistics {
  std::vector<double> means;
  std::vector<double> deviations;
  size_t num_degenerate = 0;  // SNPs that vary in no person of some fold, or have too few calls
};
InputStatistics ComputeInputStatistics(const FoldCounts& counts);

// Writes upstream's `.npz`: means_by_fold and, unless `mean_only`, sd_by_fold.
Result<void> WriteInputStatistics(const FoldCounts& counts, const InputStatistics& statistics,
                                  bool mean_only, const std::string& path);

// The embedding of one fold: SNP-major, 3 x classes values a SNP, column 3c + g the number of
// people of class c with genotype g divided by the people of class c.
std::vector<double> FoldEmbedding(const FoldCounts& counts, size_t fold);

// Writes upstream's `.npz` with `emb` (folds, SNPs, 3 x classes): column 3c + g is the number of
// people of class c with genotype g divided by the people of class c.
Result<void> WriteEmbedding(const FoldCounts& counts, const std::string& path);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_FOLD_COUNTS_H_

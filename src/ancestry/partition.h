#ifndef TALLELE_ANCESTRY_PARTITION_H_
#define TALLELE_ANCESTRY_PARTITION_H_

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// Training, validation and test rows of a dataset, in this order.
using Fold = std::array<std::vector<int64_t>, 3>;

// NumPy's legacy generator (RandomState) as far as partitions need it: MT19937 seeded with one
// 32-bit number, which is what the standard library's engine does too.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}

  // Uniform in [0, bound]: words masked to the bits of `bound`, larger ones rejected.
  uint32_t UpTo(uint32_t bound);
  // Uniform in [0, 1), 53 bits of two words.
  double Uniform();
  // `shuffle` of a list: from the last place down, each is swapped with one up to it.
  void Shuffle(std::span<int64_t> list);

 private:
  std::mt19937 words_;
};

struct PartitionRequest {
  uint32_t seed = 23;
  int num_folds = 5;
  bool balance_class = false;       // every class is split alike
  double train_valid_ratio = 0.75;  // of people outside the test set; unbalanced only
};

// Upstream's split. Balanced: its membership, people of each class in shuffled order, classes in
// label order (upstream's order of classes changes from run to run). Unbalanced: its lists exactly.
// `labels` may be empty when not balanced. Errors: fewer than two folds, more folds than people,
// more than 2^32 - 1 people, a fold that comes out empty.
Result<std::vector<Fold>> MakePartition(const PartitionRequest& request, size_t num_people,
                                        std::span<const int64_t> labels);

// Writes upstream's `.npz` (folds_indexes and folds_samples, read by numpy.load with
// allow_pickle=True), and the same lists as plain integers: train_0, valid_0, test_0, train_1 ...
Result<void> WritePartition(const std::vector<Fold>& folds, std::span<const std::string> samples,
                            const std::string& path);

// Reads any partition `.npz` of ours or of upstream, whatever pickle it holds (lists or arrays, or
// one array of all lists where they are equally long), and checks the rows against the dataset's
// number of people and names.
Result<std::vector<Fold>> ReadPartition(const std::string& path,
                                        std::span<const std::string> samples);

// The test set of one fold of a partition whose dataset is not at hand.
struct FoldTestSet {
  std::vector<int64_t> rows;         // of the dataset
  std::vector<std::string> samples;  // in the same order; empty when the file has no names
  int64_t dataset_people = 0;        // in all three lists
};
Result<FoldTestSet> ReadFoldTestSet(const std::string& path, int64_t fold);

// An error that names the folds there are unless `fold` is one of them.
Result<void> CheckFold(int64_t fold, size_t num_folds, const std::string& path);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_PARTITION_H_

#ifndef TALLELE_ANCESTRY_TRAIN_BATCH_LOADER_H_
#define TALLELE_ANCESTRY_TRAIN_BATCH_LOADER_H_

#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "ancestry/train/batch_inputs.h"
#include "ancestry/train/fold_data.h"
#include "ancestry/train/main_network.h"
#include "ancestry/train/training_random.h"

namespace tallele {

// How the fat layer of a training batch is computed; the gradients agree to about 1e-6.
enum class BatchPath { kChoose, kSparse, kDense };

// Everything about a training batch that is read or drawn.
struct TrainingBatch {
  std::vector<int64_t> people;  // rows of the dataset
  bool is_sparse = false;
  SparseInputs sparse;
  DenseInputs dense;
  std::vector<uint8_t> row_bytes;  // what `dense` points into, unless into memory rows
  std::vector<std::vector<uint8_t>> unit_masks;  // of each layer; empty without dropout
  std::vector<int64_t> classes;
  std::vector<float> values;

  BatchTargets targets() const { return {classes, values}; }
};

// What shapes the batches of a model.
struct LoaderOptions {
  size_t batch_size = 0;
  double input_dropout = 0;
  double unit_dropout = 0;
  std::vector<size_t> unit_widths;  // of the layers behind which units are dropped
  BatchPath path = BatchPath::kChoose;
  bool prefetch = true;  // read and draw the next batch while this one is computed
};

// Sizes of the batches of n people. A last batch of one person has no variance to normalise by, so
// it is added to the one before.
std::vector<size_t> BatchSizes(size_t n, size_t batch_size);

// The batches of one training pass. Draws happen in the order of batches, whether prefetched or
// not.
class BatchLoader {
 public:
  // Everything is kept by reference; `order` holds places in `people`.
  BatchLoader(const TrainingPeople& data, const InputTables& tables, const LoaderOptions& options,
              std::span<const int64_t> people, std::vector<uint32_t> order, int64_t epoch,
              TrainingRandom& random);
  ~BatchLoader();

  // The next batch; nothing after the last.
  Result<std::optional<TrainingBatch>> Next();

 private:
  Result<std::optional<TrainingBatch>> Prepare();
  Result<void> FillInputs(TrainingBatch& batch);
  // In order where random draws follow one another, else on many threads.
  template <typename Body>
  void ForEachPerson(size_t num_people, const Body& body) const;
  void FillMasks(TrainingBatch& batch);
  void FillTargets(TrainingBatch& batch) const;

  const TrainingPeople& data_;
  const InputTables& tables_;
  const LoaderOptions& options_;
  std::span<const int64_t> people_;
  std::vector<uint32_t> order_;
  std::vector<size_t> sizes_;
  int64_t epoch_;
  TrainingRandom& random_;
  size_t next_batch_ = 0;
  size_t next_place_ = 0;
  SparseBuilder builder_;
  std::future<Result<std::optional<TrainingBatch>>> prepared_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_BATCH_LOADER_H_

#ifndef TALLELE_ANCESTRY_MODEL_TRAINING_DATASET_H_
#define TALLELE_ANCESTRY_MODEL_TRAINING_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// A training dataset in HDF5 (docs/formats/package.md, "Training dataset"), open for reading:
// contiguous, chunked and compressed `inputs` alike.
class TrainingDataset {
 public:
  static Result<TrainingDataset> Open(const std::string& path);
  ~TrainingDataset();
  TrainingDataset(TrainingDataset&&) noexcept;
  TrainingDataset& operator=(TrainingDataset&&) noexcept;

  const std::string& path() const;
  size_t num_people() const;
  size_t num_snps() const;
  const std::vector<std::string>& snp_names() const;
  const std::vector<std::string>& samples() const;
  const std::vector<std::string>& class_names() const;
  const std::vector<int64_t>& labels() const;  // class of each person

  // `regression_labels` of each person, as float32; an error when the dataset has none.
  Result<std::vector<float>> ReadRegressionValues() const;

  // The listed people as 2-bit rows at PackedRowStride(num_snps()). One thread at a time.
  Result<void> ReadRows(std::span<const int64_t> people, std::span<uint8_t> rows) const;

 private:
  struct State;
  explicit TrainingDataset(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// SHA-256 over the dataset's people, SNPs, classes and labels.
std::string NamesChecksum(const TrainingDataset& dataset);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_TRAINING_DATASET_H_

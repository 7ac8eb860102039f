#ifndef TALLELE_ANCESTRY_DATASET_WRITER_H_
#define TALLELE_ANCESTRY_DATASET_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// Everything of a training dataset but its genotypes.
struct DatasetTables {
  std::vector<std::string> samples;
  std::vector<std::string> snp_names;
  std::vector<std::string> class_names;  // sorted by bytes; the index is the class
  std::vector<int64_t> labels;           // class of each person
  std::vector<double> values;            // of a regression, of each person; empty: none
};

// Writes an HDF5 dataset as upstream lays it out: contiguous, without filters or attributes, oldest
// file version. It appears under its name at `Commit`; destroyed before that it leaves nothing.
class DatasetWriter {
 public:
  static Result<DatasetWriter> Create(const std::string& path, const DatasetTables& tables);
  ~DatasetWriter();
  DatasetWriter(DatasetWriter&&) noexcept;
  DatasetWriter& operator=(DatasetWriter&&) noexcept;

  // The next person's 2-bit row (kernels/packed_products.h); missing becomes -1.
  Result<void> AppendRow(std::span<const uint8_t> row);
  // An error unless everybody's row came.
  Result<void> Commit();

 private:
  struct State;
  explicit DatasetWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_DATASET_WRITER_H_

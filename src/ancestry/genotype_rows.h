#ifndef TALLELE_ANCESTRY_GENOTYPE_ROWS_H_
#define TALLELE_ANCESTRY_GENOTYPE_ROWS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ancestry/model/training_dataset.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// The genotypes of a training dataset as 2-bit rows (kernels/packed_products.h), read in order.
class GenotypeRows {
 public:
  virtual ~GenotypeRows() = default;
  virtual size_t num_people() const = 0;
  virtual size_t num_snps() const = 0;
  // Rows first .. first+count-1 at PackedRowStride(num_snps()). One thread at a time.
  virtual Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const = 0;
};

// Path of a dataset's packed copy: the dataset's name plus ".packed.store".
std::string PackedPathOf(const std::string& dataset_path);

// The dataset's packed copy when there is one, else the dataset itself (kept by reference). A copy
// that is not of this dataset is an error. Equal size and time of change are proof enough;
// otherwise names are compared, and up to 1,024 rows spread over the file.
Result<std::unique_ptr<GenotypeRows>> OpenGenotypeRows(const TrainingDataset& dataset,
                                                       EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_GENOTYPE_ROWS_H_

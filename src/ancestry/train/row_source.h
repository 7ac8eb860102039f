#ifndef TALLELE_ANCESTRY_TRAIN_ROW_SOURCE_H_
#define TALLELE_ANCESTRY_TRAIN_ROW_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ancestry/model/training_dataset.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Where a training reads genotypes from.
enum class InputKind {
  kMemmap,  // the dataset itself, batch by batch
  kPacked,  // its packed copy on disk, batch by batch
  kRam,     // 2-bit rows of everyone in memory
};

// 2-bit rows (kernels/packed_products.h) of any people of a dataset, in any order. Safe for many
// threads.
class RowSource {
 public:
  virtual ~RowSource() = default;

  // Points `rows` at each person's row, PackedRowStride(number of SNPs) bytes. `buffer` holds what
  // was read from disk; rows are good as long as it and the source are.
  virtual Result<void> Rows(std::span<const int64_t> people, std::vector<uint8_t>& buffer,
                            std::vector<const uint8_t*>& rows) const = 0;
  // For messages: "2-bit rows in memory (178 MB)".
  virtual std::string Description() const = 0;
};

// Without `kind`: the packed copy when there is one, else memory when the 2-bit rows take less than
// a quarter of what is free, else the dataset. An error when kPacked has no copy, or one that is
// not of this dataset.
Result<std::shared_ptr<const RowSource>> OpenRowSource(
    std::shared_ptr<const TrainingDataset> dataset, const InputKind* kind, EventSink& events,
    const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_ROW_SOURCE_H_

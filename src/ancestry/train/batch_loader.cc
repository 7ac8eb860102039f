#include "ancestry/train/batch_loader.h"

#include <algorithm>
#include <cstring>

#include <tbb/parallel_for.h>

#include "kernels/packed_products.h"

namespace tallele {
namespace {

// Below this share of kept genotypes the sparse path is faster (docs/performance.md).
constexpr double kSparseShare = 0.3;

void SetCode(uint8_t* row, size_t snp, int code) {
  const auto shift = static_cast<int>(2 * (snp % 4));
  row[snp / 4] = static_cast<uint8_t>((row[snp / 4] & ~(3 << shift)) | code << shift);
}

}  // namespace

std::vector<size_t> BatchSizes(size_t n, size_t batch_size) {
  std::vector<size_t> sizes(n / batch_size, batch_size);
  const size_t rest = n % batch_size;
  if (rest == 1 && !sizes.empty()) {
    ++sizes.back();
  } else if (rest > 0) {
    sizes.push_back(rest);
  }
  return sizes;
}

BatchLoader::BatchLoader(const TrainingPeople& data, const InputTables& tables,
                         const LoaderOptions& options, std::span<const int64_t> people,
                         std::vector<uint32_t> order, int64_t epoch, TrainingRandom& random)
    : data_(data),
      tables_(tables),
      options_(options),
      people_(people),
      order_(std::move(order)),
      sizes_(BatchSizes(people.size(), options.batch_size)),
      epoch_(epoch),
      random_(random) {}

BatchLoader::~BatchLoader() {
  if (prepared_.valid()) prepared_.wait();
}

Result<std::optional<TrainingBatch>> BatchLoader::Next() {
  if (!options_.prefetch) return Prepare();
  if (!prepared_.valid()) prepared_ = std::async(std::launch::async, [this] { return Prepare(); });
  auto batch = prepared_.get();
  if (batch.ok() && batch->has_value()) {
    prepared_ = std::async(std::launch::async, [this] { return Prepare(); });
  }
  return batch;
}

Result<std::optional<TrainingBatch>> BatchLoader::Prepare() {
  if (next_batch_ == sizes_.size()) return std::optional<TrainingBatch>();
  TrainingBatch batch;
  const size_t size = sizes_[next_batch_++];
  for (size_t i = 0; i < size; ++i) batch.people.push_back(people_[order_[next_place_ + i]]);
  next_place_ += size;
  TALLELE_TRY(FillInputs(batch));
  FillMasks(batch);
  FillTargets(batch);
  return std::optional<TrainingBatch>(std::move(batch));
}

Result<void> BatchLoader::FillInputs(TrainingBatch& batch) {
  const size_t num_snps = data_.num_snps, num_people = batch.people.size();
  const double dropout = options_.input_dropout;
  batch.is_sparse = options_.path == BatchPath::kChoose ? 1 - dropout < kSparseShare
                                                        : options_.path == BatchPath::kSparse;
  std::vector<uint8_t> buffer;
  std::vector<const uint8_t*> rows;
  TALLELE_TRY(data_.rows->Rows(batch.people, buffer, rows));
  if (!batch.is_sparse && dropout == 0) {
    batch.row_bytes = std::move(buffer);
    batch.dense.rows = std::move(rows);
    return {};
  }
  const size_t stride = PackedRowStride(num_snps);
  if (batch.is_sparse) {
    builder_.Begin(num_snps, num_people);
  } else {
    batch.row_bytes.resize(num_people * stride);
    batch.dense.rows.resize(num_people);
  }
  ForEachPerson(num_people, [&](size_t i, InputSelection& selection) {
    random_.SelectInputs(epoch_, batch.people[i], num_snps, dropout, selection);
    if (selection.lists_kept != batch.is_sparse) InvertSelection(num_snps, selection);
    if (batch.is_sparse) return builder_.SetPerson(i, rows[i], selection.snps, tables_);
    uint8_t* row = batch.row_bytes.data() + i * stride;
    std::memcpy(row, rows[i], stride);
    for (const uint32_t snp : selection.snps) SetCode(row, snp, tables_.dropped_code());
    batch.dense.rows[i] = row;
  });
  if (batch.is_sparse) builder_.Finish(batch.sparse);
  return {};
}

template <typename Body>
void BatchLoader::ForEachPerson(size_t num_people, const Body& body) const {
  if (!random_.IsKeyed()) {
    InputSelection selection;
    for (size_t i = 0; i < num_people; ++i) body(i, selection);
    return;
  }
  constexpr size_t kPeoplePerTask = 32;
  tbb::parallel_for(tbb::blocked_range<size_t>(0, num_people, kPeoplePerTask),
                    [&](const tbb::blocked_range<size_t>& range) {
                      InputSelection selection;
                      for (size_t i = range.begin(); i < range.end(); ++i) body(i, selection);
                    });
}

void BatchLoader::FillMasks(TrainingBatch& batch) {
  if (options_.unit_dropout == 0) return;
  for (size_t layer = 0; layer < options_.unit_widths.size(); ++layer) {
    const size_t width = options_.unit_widths[layer];
    std::vector<uint8_t>& keep = batch.unit_masks.emplace_back(batch.people.size() * width);
    random_.SelectUnits(epoch_, batch.people, layer, width, options_.unit_dropout, keep);
  }
}

void BatchLoader::FillTargets(TrainingBatch& batch) const {
  for (const int64_t person : batch.people) {
    const auto row = static_cast<size_t>(person);
    if (data_.is_regression()) {
      batch.values.push_back(data_.values[row]);
    } else {
      batch.classes.push_back(data_.classes[row]);
    }
  }
}

}  // namespace tallele

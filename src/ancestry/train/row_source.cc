#include "ancestry/train/row_source.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "ancestry/genotype_rows.h"
#include "ancestry/packed_dataset.h"
#include "base/aligned_buffer.h"
#include "base/format_number.h"
#include "base/machine.h"
#include "genotype/packed/packed_store.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr size_t kRowsAtOnce = 256;

void PointAt(const std::vector<uint8_t>& buffer, size_t stride, size_t count,
             std::vector<const uint8_t*>& rows) {
  rows.resize(count);
  for (size_t r = 0; r < count; ++r) rows[r] = buffer.data() + r * stride;
}

class DatasetRows final : public RowSource {
 public:
  explicit DatasetRows(std::shared_ptr<const TrainingDataset> dataset)
      : dataset_(std::move(dataset)) {}

  Result<void> Rows(std::span<const int64_t> people, std::vector<uint8_t>& buffer,
                    std::vector<const uint8_t*>& rows) const override {
    const size_t stride = PackedRowStride(dataset_->num_snps());
    buffer.resize(people.size() * stride);
    PointAt(buffer, stride, people.size(), rows);
    const std::lock_guard lock(mutex_);
    return dataset_->ReadRows(people, buffer);
  }
  std::string Description() const override { return "the dataset itself"; }

 private:
  std::shared_ptr<const TrainingDataset> dataset_;
  mutable std::mutex mutex_;
};

class StoreRows final : public RowSource {
 public:
  explicit StoreRows(PackedStore store) : store_(std::move(store)) {}

  Result<void> Rows(std::span<const int64_t> people, std::vector<uint8_t>& buffer,
                    std::vector<const uint8_t*>& rows) const override {
    const size_t stride = store_.stride();
    buffer.resize(people.size() * stride);
    PointAt(buffer, stride, people.size(), rows);
    for (size_t r = 0; r < people.size(); ++r) {
      TALLELE_TRY(store_.Read(static_cast<size_t>(people[r]), 1,
                              std::span(buffer).subspan(r * stride, stride)));
    }
    return {};
  }
  std::string Description() const override { return "the packed copy " + store_.path(); }

 private:
  PackedStore store_;
};

class MemoryRows final : public RowSource {
 public:
  static Result<std::shared_ptr<const RowSource>> Load(const GenotypeRows& from,
                                                       const CancelToken& cancel) {
    auto rows = std::make_shared<MemoryRows>();
    rows->stride_ = PackedRowStride(from.num_snps());
    rows->bytes_.Resize(from.num_people() * rows->stride_);
    auto* bytes = reinterpret_cast<uint8_t*>(rows->bytes_.data());
    for (size_t first = 0; first < from.num_people(); first += kRowsAtOnce) {
      if (cancel.cancelled()) return InterruptedError();
      const size_t count = std::min(kRowsAtOnce, from.num_people() - first);
      TALLELE_TRY(from.Read(first, count, {bytes + first * rows->stride_, count * rows->stride_}));
    }
    return std::shared_ptr<const RowSource>(std::move(rows));
  }

  Result<void> Rows(std::span<const int64_t> people, std::vector<uint8_t>&,
                    std::vector<const uint8_t*>& rows) const override {
    rows.resize(people.size());
    for (size_t r = 0; r < people.size(); ++r) {
      rows[r] = reinterpret_cast<const uint8_t*>(bytes_.data()) +
                static_cast<size_t>(people[r]) * stride_;
    }
    return {};
  }
  std::string Description() const override {
    return fmt::format("2-bit rows in memory ({} MB)",
                       FormatThousands(static_cast<int64_t>(bytes_.size() / 1'000'000)));
  }

 private:
  size_t stride_ = 0;
  AlignedBuffer bytes_;
};

bool HasPackedCopy(const TrainingDataset& dataset) {
  return PosixFileEnv().Identity(PackedPathOf(dataset.path())).ok();
}

InputKind ChooseKind(const TrainingDataset& dataset) {
  if (HasPackedCopy(dataset)) return InputKind::kPacked;
  const uint64_t bytes = dataset.num_people() * PackedRowStride(dataset.num_snps());
  return bytes < AvailableMemory() / 4 ? InputKind::kRam : InputKind::kMemmap;
}

}  // namespace

Result<std::shared_ptr<const RowSource>> OpenRowSource(
    std::shared_ptr<const TrainingDataset> dataset, const InputKind* kind, EventSink& events,
    const CancelToken& cancel) {
  switch (kind != nullptr ? *kind : ChooseKind(*dataset)) {
    case InputKind::kMemmap:
      break;
    case InputKind::kPacked: {
      const std::string path = PackedPathOf(dataset->path());
      if (!HasPackedCopy(*dataset)) {
        return UsageError("the dataset has no packed copy " + path,
                          fmt::format("Run `tallele dietnet pack-genotypes --dataset {}`, or give "
                                      "--inputs memmap or ram.",
                                      dataset->path()));
      }
      TALLELE_ASSIGN(PackedStore store, PackedStore::Open(path));
      TALLELE_TRY(CheckPackedDataset(store, *dataset, false));
      return std::shared_ptr<const RowSource>(std::make_shared<StoreRows>(std::move(store)));
    }
    case InputKind::kRam: {
      TALLELE_ASSIGN(const auto rows, OpenGenotypeRows(*dataset, events));
      return MemoryRows::Load(*rows, cancel);
    }
  }
  return std::shared_ptr<const RowSource>(std::make_shared<DatasetRows>(std::move(dataset)));
}

}  // namespace tallele

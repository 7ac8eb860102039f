#include "ancestry/genotype_rows.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "ancestry/packed_dataset.h"
#include "genotype/packed/packed_store.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr size_t kRowsToCompare = 1024;

class DatasetGenotypeRows final : public GenotypeRows {
 public:
  explicit DatasetGenotypeRows(const TrainingDataset& dataset) : dataset_(dataset) {}
  size_t num_people() const override { return dataset_.num_people(); }
  size_t num_snps() const override { return dataset_.num_snps(); }
  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
    std::vector<int64_t> people(count);
    std::iota(people.begin(), people.end(), static_cast<int64_t>(first));
    return dataset_.ReadRows(people, rows.first(count * PackedRowStride(num_snps())));
  }

 private:
  const TrainingDataset& dataset_;
};

class StoreGenotypeRows final : public GenotypeRows {
 public:
  explicit StoreGenotypeRows(PackedStore store) : store_(std::move(store)) {}
  size_t num_people() const override { return store_.num_people(); }
  size_t num_snps() const override { return store_.num_snps(); }
  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
    return store_.Read(first, count, rows);
  }

 private:
  PackedStore store_;
};

Error Stale(const PackedStore& store, const TrainingDataset& dataset, const std::string& what) {
  return InputError("the packed copy is not of this dataset: " + what, store.path(),
                    fmt::format("Run `tallele dietnet pack-genotypes --dataset {}` again, or "
                                "remove the packed copy.",
                                dataset.path()));
}

}  // namespace

std::string PackedPathOf(const std::string& dataset_path) { return dataset_path + ".packed.store"; }

Result<void> CheckPackedDataset(const PackedStore& store, const TrainingDataset& dataset,
                                bool every_row) {
  if (store.num_people() != dataset.num_people() || store.num_snps() != dataset.num_snps()) {
    return Stale(store, dataset, "other numbers of people and SNPs");
  }
  TALLELE_ASSIGN(const std::string names, store.Section("names"));
  if (names != NamesChecksum(dataset)) return Stale(store, dataset, "other people, SNPs or labels");
  if (!every_row) {
    TALLELE_ASSIGN(const std::string state, store.Section("state"));
    TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(dataset.path()));
    if (state == StateText(identity)) return {};
  }
  const size_t stride = store.stride();
  std::vector<uint8_t> packed(stride), row(stride);
  const size_t num_people = store.num_people();
  const size_t checks = every_row ? num_people : std::min(num_people, kRowsToCompare);
  for (size_t k = 0; k < checks; ++k) {
    const int64_t person = static_cast<int64_t>(k * num_people / checks);
    TALLELE_TRY(store.Read(static_cast<size_t>(person), 1, packed));
    TALLELE_TRY(dataset.ReadRows({&person, 1}, row));
    PadPackedRow(store.num_snps(), row);
    if (row != packed) return Stale(store, dataset, fmt::format("row {} differs", person));
  }
  return {};
}

Result<std::unique_ptr<GenotypeRows>> OpenGenotypeRows(const TrainingDataset& dataset,
                                                       EventSink& events) {
  const std::string path = PackedPathOf(dataset.path());
  if (!PosixFileEnv().Identity(path)) {
    return std::unique_ptr<GenotypeRows>(std::make_unique<DatasetGenotypeRows>(dataset));
  }
  TALLELE_ASSIGN(PackedStore store, PackedStore::Open(path));
  TALLELE_TRY(CheckPackedDataset(store, dataset, false));
  events.Message(Severity::kInfo, "Reading genotypes from " + path);
  return std::unique_ptr<GenotypeRows>(std::make_unique<StoreGenotypeRows>(std::move(store)));
}

}  // namespace tallele

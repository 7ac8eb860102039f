#include "ancestry/model/dataset_rows.h"

#include <mutex>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "ancestry/model/training_dataset.h"
#include "base/file_env.h"

namespace tallele {
namespace {

class DatasetRows final : public CohortRows {
 public:
  DatasetRows(TrainingDataset dataset, const FileIdentity& identity)
      : dataset_(std::move(dataset)),
        file_identity_(fmt::format("{} {} {} {}", dataset_.path(), identity.size, identity.inode,
                                   identity.modified_ns)),
        snps_(dataset_.num_snps()) {
    std::iota(snps_.begin(), snps_.end(), 0u);
    for (const std::string& sample : dataset_.samples()) people_.push_back({sample, sample});
  }

  const std::vector<CohortPerson>& people() const override { return people_; }
  const std::vector<uint32_t>& model_snps() const override { return snps_; }
  const std::string& snps_identity() const override { return unknown_; }
  std::string Identity() const override { return file_identity_; }

  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
    std::vector<int64_t> people(count);
    std::iota(people.begin(), people.end(), static_cast<int64_t>(first));
    const std::lock_guard lock(mutex_);  // HDF5 takes one thread at a time
    return dataset_.ReadRows(people, rows);
  }

 private:
  TrainingDataset dataset_;
  std::string file_identity_;
  std::string unknown_;
  std::vector<CohortPerson> people_;
  std::vector<uint32_t> snps_;
  mutable std::mutex mutex_;
};

}  // namespace

Result<std::unique_ptr<CohortRows>> OpenDatasetRows(const std::string& path,
                                                    const ModelSnps& snps) {
  TALLELE_ASSIGN(TrainingDataset dataset, TrainingDataset::Open(path));
  const std::string advice =
      "Line a cohort up with the model first, or give a dataset of the same "
      "SNPs.";
  if (dataset.num_snps() != snps.size()) {
    Error error = InputError("the dataset does not have the model's SNPs", path, advice);
    error.found = fmt::format("{} SNPs", dataset.num_snps());
    error.expected = fmt::format("{}", snps.size());
    return error;
  }
  for (size_t j = 0; j < snps.size(); ++j) {
    if (dataset.snp_names()[j] == snps.names[j]) continue;
    Error error =
        InputError(fmt::format("SNP {} of the dataset is not that of the model", j), path, advice);
    error.found = dataset.snp_names()[j];
    error.expected = snps.names[j];
    return error;
  }
  std::unordered_map<std::string_view, size_t> rows;
  for (size_t i = 0; i < dataset.num_people(); ++i) {
    const auto [earlier, added] = rows.try_emplace(dataset.samples()[i], i);
    if (added) continue;
    return InputError(fmt::format("rows {} and {} have the same sample name", earlier->second, i),
                      path + ", samples", "Give every person a name of their own.");
  }
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(path));
  return std::unique_ptr<CohortRows>(new DatasetRows(std::move(dataset), identity));
}

}  // namespace tallele

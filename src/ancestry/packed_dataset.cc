#include "ancestry/packed_dataset.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "ancestry/genotype_rows.h"

namespace tallele {
namespace {

constexpr size_t kBlockBytes = 16 << 20;

}  // namespace

std::string StateText(const FileIdentity& identity) {
  return fmt::format("{} {}", identity.size, identity.modified_ns);
}

Result<std::string> PackDataset(const std::string& dataset_path, EventSink& events,
                                const CancelToken& cancel) {
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(dataset_path));
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(dataset_path));
  const std::string path = PackedPathOf(dataset_path);
  const size_t num_people = dataset.num_people();
  TALLELE_ASSIGN(PackedStoreWriter writer,
                 PackedStoreWriter::Create(path, num_people, dataset.num_snps()));
  const size_t stride = (dataset.num_snps() + 255) / 256 * 64;
  const size_t step = std::max<size_t>(1, kBlockBytes / std::max<size_t>(1, stride));
  std::vector<uint8_t> rows(std::min(step, num_people) * stride);
  const auto start = std::chrono::steady_clock::now();
  for (size_t first = 0; first < num_people; first += step) {
    if (cancel.cancelled()) {
      Error error;
      error.kind = ErrorKind::kInterrupted;
      error.what = "packing was interrupted; nothing was written";
      return error;
    }
    std::vector<int64_t> people(std::min(step, num_people - first));
    std::iota(people.begin(), people.end(), static_cast<int64_t>(first));
    const auto block = std::span(rows).first(people.size() * stride);
    TALLELE_TRY(dataset.ReadRows(people, block));
    TALLELE_TRY(writer.Append(block));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const auto done = static_cast<int64_t>(first + people.size());
    events.Progress({"people", done, static_cast<int64_t>(num_people), elapsed.count(),
                     done == static_cast<int64_t>(num_people)});
  }
  TALLELE_ASSIGN(const FileIdentity after, PosixFileEnv().Identity(dataset_path));
  if (!(after == identity)) {
    return InputError("the dataset changed while it was packed", dataset_path, "Pack it again.");
  }
  TALLELE_TRY(writer.Commit({{"kind", "dataset"},
                             {"names", NamesChecksum(dataset)},
                             {"state", StateText(identity)},
                             {"samples", JoinLines(dataset.samples())},
                             {"snps", JoinLines(dataset.snp_names())}}));
  return path;
}

}  // namespace tallele

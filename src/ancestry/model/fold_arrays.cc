#include "ancestry/model/fold_arrays.h"

#include <fmt/format.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

Error Mismatch(const std::string& what, const std::string& where, size_t found, size_t expected,
               std::string advice = {}) {
  Error error = InputError(what, where, std::move(advice));
  error.found = fmt::format("{}", found);
  error.expected = fmt::format("{}", expected);
  return error;
}

// The first member of these names in an .npz.
Result<std::string> ReadEither(const ZipArchive& archive, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const std::string member = std::string(key) + ".npy";
    if (archive.Find(member)) return archive.Read(member);
  }
  return InputError(fmt::format("the archive has no array {}", fmt::join(keys, " or ")),
                    archive.path());
}

// Row `fold` of an array with one more dimension than `dimensions`, or the array itself. One row
// serves every fold.
Result<DoubleArray> FoldOf(const std::string& bytes, const std::string& where, size_t dimensions,
                           int64_t fold) {
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (header.shape.size() == dimensions) return ReadNpyDoubles(bytes, where);
  if (header.shape.size() != dimensions + 1 || header.shape[0] == 0) {
    return Mismatch("an array has an unexpected number of dimensions", where, header.shape.size(),
                    dimensions + 1);
  }
  const int64_t row = header.shape[0] == 1 ? 0 : fold;
  if (row >= header.shape[0]) {
    return Mismatch("an array has fewer folds than the model's fold asks for", where,
                    static_cast<size_t>(header.shape[0]), static_cast<size_t>(fold) + 1,
                    "Folds count from 0; give the right --fold.");
  }
  return ReadNpyDoublesRow(bytes, where, row);
}

}  // namespace

Result<void> ReadFoldStatistics(const std::string& path, int64_t fold, bool need_sd,
                                FoldInputs& inputs) {
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  TALLELE_ASSIGN(const std::string means, ReadEither(archive, {"means_by_fold", "mean"}));
  TALLELE_ASSIGN(DoubleArray mean, FoldOf(means, path, 1, fold));
  inputs.means = std::move(mean.values);
  if (!need_sd && !archive.Find("sd_by_fold.npy") && !archive.Find("std.npy")) {
    inputs.deviations.assign(inputs.means.size(), 1.0);
    return {};
  }
  TALLELE_ASSIGN(const std::string sds, ReadEither(archive, {"sd_by_fold", "std"}));
  TALLELE_ASSIGN(DoubleArray sd, FoldOf(sds, path, 1, fold));
  inputs.deviations = std::move(sd.values);
  return {};
}

Result<void> ReadFoldEmbedding(const std::string& path, int64_t fold, FoldInputs& inputs) {
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  TALLELE_ASSIGN(const std::string bytes, ReadEither(archive, {"emb", "embedding"}));
  TALLELE_ASSIGN(DoubleArray table, FoldOf(bytes, path, 2, fold));
  inputs.embedding_width = static_cast<size_t>(table.shape.back());
  inputs.embedding = std::move(table.values);
  return {};
}

}  // namespace tallele

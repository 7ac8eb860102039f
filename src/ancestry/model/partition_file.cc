#include "ancestry/model/partition_file.h"

#include <fmt/format.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/pickle.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

constexpr size_t kParts = 3;  // training, validation, test

// The table of folds and parts of one member.
struct FoldTable {
  Pickle pickle;
  PickledArray array;
  std::string where;

  size_t ItemsPerPart() const {
    return array.num_elements() / (static_cast<size_t>(array.shape[0]) * kParts);
  }
  const PickleValue& Item(int64_t fold, size_t part, size_t i) const {
    return *array.items[(static_cast<size_t>(fold) * kParts + part) * ItemsPerPart() + i];
  }
  // Lists of equal length make NumPy store a table of values instead of a table of lists.
  bool is_flat() const { return array.shape.size() > 2; }
};

Result<FoldTable> ReadFoldTable(const ZipArchive& archive, const std::string& key, int64_t fold) {
  const std::string member = key + ".npy";
  const std::string where = archive.path() + ", member " + member;
  TALLELE_ASSIGN(const std::string bytes, archive.Read(member));
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (header.type != 'O') return InputError("the partition has no lists of people", where);
  TALLELE_ASSIGN(Pickle pickle, Pickle::Read(bytes.substr(header.data_offset), where));
  TALLELE_ASSIGN(PickledArray array, ReadPickledArray(pickle.root(), where));
  if (array.type != 'O' || array.shape.size() < 2 || array.shape.size() > 3 ||
      array.shape[1] != static_cast<int64_t>(kParts)) {
    return InputError("the partition is no table of folds with three lists each", where);
  }
  if (fold < 0 || fold >= array.shape[0]) {
    Error error = InputError("the partition does not have this fold", where, "Folds count from 0.");
    error.found = fmt::format("fold {}", fold);
    error.expected = fmt::format("0 to {}", array.shape[0] - 1);
    return error;
  }
  return FoldTable{std::move(pickle), std::move(array), where};
}

Result<std::vector<int64_t>> RowsOf(const FoldTable& table, int64_t fold, size_t part) {
  if (!table.is_flat()) return ReadPickledIntegers(table.Item(fold, part, 0), table.where);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < table.ItemsPerPart(); ++i) {
    const PickleValue& item = table.Item(fold, part, i);
    if (!item.Is(PickleValue::Kind::kInteger)) {
      return InputError("the partition holds something else than row numbers", table.where);
    }
    rows.push_back(item.integer);
  }
  return rows;
}

void AppendTrimmed(std::string_view cell, std::vector<std::string>& samples) {
  while (!cell.empty() && cell.back() == '\0') cell.remove_suffix(1);
  samples.emplace_back(cell);
}

Result<std::vector<std::string>> SamplesOf(const FoldTable& table, int64_t fold) {
  std::vector<std::string> samples;
  if (table.is_flat()) {
    for (size_t i = 0; i < table.ItemsPerPart(); ++i) {
      const PickleValue& item = table.Item(fold, kParts - 1, i);
      if (!item.Is(PickleValue::Kind::kBytes) && !item.Is(PickleValue::Kind::kText)) {
        return InputError("the partition holds something else than sample names", table.where);
      }
      AppendTrimmed(item.text, samples);
    }
    return samples;
  }
  TALLELE_ASSIGN(const PickledArray names,
                 ReadPickledArray(table.Item(fold, kParts - 1, 0), table.where));
  if (names.type != 'S' || names.shape.size() != 1 || names.item_size == 0) {
    return InputError("the partition's sample names are no byte strings", table.where);
  }
  const auto width = static_cast<size_t>(names.item_size);
  for (size_t at = 0; at + width <= names.bytes.size(); at += width) {
    AppendTrimmed(names.bytes.substr(at, width), samples);
  }
  return samples;
}

}  // namespace

Result<FoldTestSet> ReadFoldTestSet(const std::string& path, int64_t fold) {
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  FoldTestSet set;
  TALLELE_ASSIGN(const FoldTable rows, ReadFoldTable(archive, "folds_indexes", fold));
  for (size_t part = 0; part < kParts; ++part) {
    TALLELE_ASSIGN(std::vector<int64_t> list, RowsOf(rows, fold, part));
    set.dataset_people += static_cast<int64_t>(list.size());
    if (part == kParts - 1) set.rows = std::move(list);
  }
  if (!archive.Find("folds_samples.npy")) return set;
  TALLELE_ASSIGN(const FoldTable names, ReadFoldTable(archive, "folds_samples", fold));
  TALLELE_ASSIGN(set.samples, SamplesOf(names, fold));
  if (set.samples.size() != set.rows.size()) {
    return InputError("the partition's rows and sample names are not equally many", path);
  }
  return set;
}

}  // namespace tallele

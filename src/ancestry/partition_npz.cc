#include <fmt/format.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/pickle.h"
#include "ancestry/model/zip_archive.h"
#include "ancestry/partition.h"

namespace tallele {
namespace {

constexpr const char* kPartNames[] = {"train", "valid", "test"};
constexpr size_t kNumParts = 3;
constexpr char kRowsKey[] = "folds_indexes";
constexpr char kNamesKey[] = "folds_samples";

// Writes pickles of NumPy arrays with the opcodes of protocol 3, without a memo.
class ArrayPickler {
 public:
  // An object array of shape (folds, 3); the caller writes its items between Begin and End.
  void BeginTable(size_t num_folds) {
    out_ = "\x80\x03";
    Reconstruct();
    out_ += '(';
    Integer(1);
    Integer(static_cast<int64_t>(num_folds));
    Integer(3);
    out_ += '\x86';
    Dtype("O8", "|", -1, -1, 63);
    out_ += '\x89';  // row-major
    out_ += "](";
  }
  std::string EndTable() {
    out_ += "etb.";
    return std::move(out_);
  }

  void Integers(const std::vector<int64_t>& list) {
    out_ += "](";
    for (const int64_t value : list) Integer(value);
    out_ += 'e';
  }

  // An array of byte strings, `width` bytes each.
  void Names(const std::string& bytes, size_t count, size_t width) {
    Reconstruct();
    out_ += '(';
    Integer(1);
    Integer(static_cast<int64_t>(count));
    out_ += '\x85';
    Dtype(fmt::format("S{}", width), "|", static_cast<int64_t>(width), 1, 0);
    out_ += '\x89';
    Bytes(bytes);
    out_ += "tb";
  }

 private:
  void Global(const char* module, const char* name) {
    out_ += fmt::format("c{}\n{}\n", module, name);
  }
  void Number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void Integer(int64_t value) {
    if (value >= 0 && value < 256) {
      out_ += 'K';
      Number(static_cast<uint64_t>(value), 1);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'J';
      Number(static_cast<uint64_t>(value), 4);
    } else {
      out_ += "\x8a\x08";
      Number(static_cast<uint64_t>(value), 8);
    }
  }
  void Text(std::string_view text) {
    out_ += 'X';
    Number(text.size(), 4);
    out_ += text;
  }
  void Bytes(std::string_view bytes) {
    out_ += 'B';
    Number(bytes.size(), 4);
    out_ += bytes;
  }
  void Reconstruct() {
    Global("numpy.core.multiarray", "_reconstruct");
    Global("numpy", "ndarray");
    Integer(0);
    out_ += '\x85';
    Bytes("b");
    out_ += "\x87R";
  }
  void Dtype(const std::string& name, const char* order, int64_t size, int64_t alignment,
             int64_t flags) {
    Global("numpy", "dtype");
    Text(name);
    out_ += "\x89\x88\x87R(";
    Integer(3);
    Text(order);
    out_ += "NNN";
    Integer(size);
    Integer(alignment);
    Integer(flags);
    out_ += "tb";
  }

  std::string out_;
};

std::string IndexTable(const std::vector<Fold>& folds) {
  ArrayPickler pickle;
  pickle.BeginTable(folds.size());
  for (const Fold& fold : folds) {
    for (const std::vector<int64_t>& list : fold) pickle.Integers(list);
  }
  return pickle.EndTable();
}

std::string SampleTable(const std::vector<Fold>& folds, std::span<const std::string> samples) {
  size_t width = 1;
  for (const std::string& sample : samples) width = std::max(width, sample.size());
  ArrayPickler pickle;
  pickle.BeginTable(folds.size());
  for (const Fold& fold : folds) {
    for (const std::vector<int64_t>& list : fold) {
      std::string bytes(list.size() * width, '\0');
      for (size_t i = 0; i < list.size(); ++i) {
        const std::string& sample = samples[static_cast<size_t>(list[i])];
        bytes.replace(i * width, sample.size(), sample);
      }
      pickle.Names(bytes, list.size(), width);
    }
  }
  return pickle.EndTable();
}

// The table of folds and lists of one member.
class ListTable {
 public:
  static Result<ListTable> Read(const ZipArchive& archive, const std::string& key) {
    const std::string member = key + ".npy", where = archive.path() + ", member " + member;
    TALLELE_ASSIGN(const std::string bytes, archive.Read(member));
    TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
    if (header.type != 'O') return InputError("the partition has no lists of people", where);
    TALLELE_ASSIGN(Pickle pickle, Pickle::Read(bytes.substr(header.data_offset), where));
    TALLELE_ASSIGN(PickledArray array, ReadPickledArray(pickle.root(), where));
    if (array.type != 'O' || array.shape.size() < 2 || array.shape.size() > 3 ||
        array.shape[0] < 1 || array.shape[1] != static_cast<int64_t>(kNumParts)) {
      return InputError("the partition is no table of folds with three lists each", where);
    }
    return ListTable(std::move(pickle), std::move(array), where);
  }

  size_t num_folds() const { return static_cast<size_t>(array_.shape[0]); }
  const std::string& where() const { return where_; }

  Result<std::vector<int64_t>> Rows(size_t fold, size_t part) const {
    if (!is_flat()) return ReadPickledIntegers(*array_.items[fold * kNumParts + part], where_);
    std::vector<int64_t> rows;
    for (const PickleValue* item : FlatList(fold, part)) {
      TALLELE_ASSIGN(const int64_t row, ReadPickledInteger(*item, where_));
      rows.push_back(row);
    }
    return rows;
  }

  Result<std::vector<std::string>> Names(size_t fold, size_t part) const {
    std::vector<std::string> names;
    if (is_flat()) {
      for (const PickleValue* item : FlatList(fold, part)) {
        if (item->Is(PickleValue::Kind::kBytes) || item->Is(PickleValue::Kind::kText)) {
          AppendTrimmed(item->text, names);
          continue;
        }
        TALLELE_ASSIGN(const PickledArray scalar, ReadPickledArray(*item, where_));
        if (scalar.type != 'S' || !scalar.shape.empty()) {
          return InputError("the partition holds something else than sample names", where_);
        }
        AppendTrimmed(scalar.bytes, names);
      }
      return names;
    }
    TALLELE_ASSIGN(const PickledArray list,
                   ReadPickledArray(*array_.items[fold * kNumParts + part], where_));
    if (list.type != 'S' || list.shape.size() != 1 || list.item_size == 0) {
      return InputError("the partition's sample names are no byte strings", where_);
    }
    const auto width = static_cast<size_t>(list.item_size);
    for (size_t at = 0; at + width <= list.bytes.size(); at += width) {
      AppendTrimmed(list.bytes.substr(at, width), names);
    }
    return names;
  }

 private:
  ListTable(Pickle pickle, PickledArray array, std::string where)
      : pickle_(std::move(pickle)), array_(std::move(array)), where_(std::move(where)) {}

  // Lists of equal length make NumPy store a table of values instead of a table of lists.
  bool is_flat() const { return array_.shape.size() == 3; }
  std::span<const PickleValue* const> FlatList(size_t fold, size_t part) const {
    const auto length = static_cast<size_t>(array_.shape[2]);
    return std::span(array_.items).subspan((fold * kNumParts + part) * length, length);
  }
  static void AppendTrimmed(std::string_view cell, std::vector<std::string>& names) {
    while (!cell.empty() && cell.back() == '\0') cell.remove_suffix(1);
    names.emplace_back(cell);
  }

  Pickle pickle_;
  PickledArray array_;
  std::string where_;
};

bool HasNames(const ZipArchive& archive) {
  return archive.Find(std::string(kNamesKey) + ".npy").has_value();
}

std::string ListPlace(const std::string& path, size_t fold, size_t part) {
  return fmt::format("{}, fold {}, {} list", path, fold, kPartNames[part]);
}

Result<void> CheckRows(const std::vector<int64_t>& rows, size_t num_people,
                       const std::string& where) {
  std::vector<bool> seen(num_people);
  for (const int64_t row : rows) {
    if (row < 0 || row >= static_cast<int64_t>(num_people)) {
      Error error = InputError("the partition lists a person that the dataset does not have", where,
                               "Give the partition that was made for this dataset.");
      error.found = fmt::format("row {}", row);
      error.expected = fmt::format("0 to {}", static_cast<int64_t>(num_people) - 1);
      return error;
    }
    if (seen[static_cast<size_t>(row)]) {
      return InputError(fmt::format("the partition lists row {} twice in one list", row), where);
    }
    seen[static_cast<size_t>(row)] = true;
  }
  return {};
}

// Names in the file must be those of the dataset's rows.
Result<void> CheckNames(const ListTable& table, const std::vector<Fold>& folds,
                        std::span<const std::string> samples) {
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < kNumParts; ++part) {
      TALLELE_ASSIGN(const std::vector<std::string> names, table.Names(f, part));
      const std::vector<int64_t>& rows = folds[f][part];
      if (names.size() != rows.size()) {
        return InputError("the partition's rows and sample names are not equally many",
                          ListPlace(table.where(), f, part));
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        if (names[i] == samples[static_cast<size_t>(rows[i])]) continue;
        return InputError(fmt::format("entry {}: the sample's name is not that of the dataset's "
                                      "row {}",
                                      i, rows[i]),
                          ListPlace(table.where(), f, part),
                          "Give the partition that was made for this dataset.");
      }
    }
  }
  return {};
}

}  // namespace

Result<void> WritePartition(const std::vector<Fold>& folds, std::span<const std::string> samples,
                            const std::string& path) {
  TALLELE_ASSIGN(StoredZipWriter archive, StoredZipWriter::Create(path));
  const int64_t shape[] = {static_cast<int64_t>(folds.size()), 3};
  TALLELE_TRY(
      archive.Add(std::string(kRowsKey) + ".npy", WriteNpyHeader("|O", shape) + IndexTable(folds)));
  TALLELE_TRY(archive.Add(std::string(kNamesKey) + ".npy",
                          WriteNpyHeader("|O", shape) + SampleTable(folds, samples)));
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < 3; ++part) {
      const int64_t length[] = {static_cast<int64_t>(folds[f][part].size())};
      TALLELE_TRY(archive.Add(fmt::format("{}_{}.npy", kPartNames[part], f),
                              WriteNpy(std::span<const int64_t>(folds[f][part]), length)));
    }
  }
  return archive.Finish();
}

Result<std::vector<Fold>> ReadPartition(const std::string& path,
                                        std::span<const std::string> samples) {
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  TALLELE_ASSIGN(const ListTable table, ListTable::Read(archive, kRowsKey));
  std::vector<Fold> folds(table.num_folds());
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < kNumParts; ++part) {
      TALLELE_ASSIGN(folds[f][part], table.Rows(f, part));
      TALLELE_TRY(CheckRows(folds[f][part], samples.size(), ListPlace(path, f, part)));
    }
  }
  if (!HasNames(archive)) return folds;
  TALLELE_ASSIGN(const ListTable names, ListTable::Read(archive, kNamesKey));
  if (names.num_folds() != folds.size()) {
    return InputError("the partition's rows and sample names are of different folds", path);
  }
  TALLELE_TRY(CheckNames(names, folds, samples));
  return folds;
}

Result<FoldTestSet> ReadFoldTestSet(const std::string& path, int64_t fold) {
  constexpr size_t kTest = kNumParts - 1;
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  TALLELE_ASSIGN(const ListTable table, ListTable::Read(archive, kRowsKey));
  TALLELE_TRY(CheckFold(fold, table.num_folds(), path));
  const auto f = static_cast<size_t>(fold);
  FoldTestSet set;
  for (size_t part = 0; part < kNumParts; ++part) {
    TALLELE_ASSIGN(std::vector<int64_t> list, table.Rows(f, part));
    set.dataset_people += static_cast<int64_t>(list.size());
    if (part == kTest) set.rows = std::move(list);
  }
  if (!HasNames(archive)) return set;
  TALLELE_ASSIGN(const ListTable names, ListTable::Read(archive, kNamesKey));
  TALLELE_TRY(CheckFold(fold, names.num_folds(), path));
  TALLELE_ASSIGN(set.samples, names.Names(f, kTest));
  if (set.samples.size() != set.rows.size()) {
    return InputError("the partition's rows and sample names are not equally many",
                      ListPlace(path, f, kTest));
  }
  return set;
}

Result<void> CheckFold(int64_t fold, size_t num_folds, const std::string& path) {
  if (fold >= 0 && fold < static_cast<int64_t>(num_folds)) return {};
  Error error = InputError("the partition does not have this fold", path, "Folds count from 0.");
  error.found = fmt::format("fold {}", fold);
  error.expected = fmt::format("0 to {}", static_cast<int64_t>(num_folds) - 1);
  return error;
}

}  // namespace tallele

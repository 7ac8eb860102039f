#include <bit>

#include <fmt/format.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/pickle.h"
#include "ancestry/model/zip_archive.h"
#include "ancestry/partition.h"

namespace tallele {
namespace {

constexpr const char* kPartNames[] = {"train", "valid", "test"};

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

struct ObjectTable {
  Pickle pickle;
  PickledArray array;
  std::string where;
};

Result<ObjectTable> ReadObjects(const ZipArchive& archive, const std::string& key) {
  const std::string member = key + ".npy", where = archive.path() + ", member " + member;
  TALLELE_ASSIGN(const std::string bytes, archive.Read(member));
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (header.type != 'O') return InputError("the partition has no lists of people", where);
  TALLELE_ASSIGN(Pickle pickle, Pickle::Read(bytes.substr(header.data_offset), where));
  TALLELE_ASSIGN(PickledArray array, ReadPickledArray(pickle.root(), where));
  if (array.type != 'O' || array.shape.size() < 2 || array.shape.size() > 3 || array.shape[0] < 1 ||
      array.shape[1] != 3) {
    return InputError("the partition is no table of folds with three lists each", where);
  }
  return ObjectTable{std::move(pickle), std::move(array), where};
}

// Lists of equal length make NumPy store a table of values instead of a table of lists.
Result<std::vector<int64_t>> RowsOf(const ObjectTable& table, size_t list) {
  if (table.array.shape.size() == 2) {
    return ReadPickledIntegers(*table.array.items[list], table.where);
  }
  const auto length = static_cast<size_t>(table.array.shape[2]);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < length; ++i) {
    const PickleValue& item = *table.array.items[list * length + i];
    if (!item.Is(PickleValue::Kind::kInteger)) {
      return InputError("the partition holds something else than row numbers", table.where);
    }
    rows.push_back(item.integer);
  }
  return rows;
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

// Names in the file, where it has them, must be those of the dataset's rows.
Result<void> CheckNames(const ZipArchive& archive, const std::vector<Fold>& folds,
                        std::span<const std::string> samples) {
  TALLELE_ASSIGN(const ObjectTable table, ReadObjects(archive, "folds_samples"));
  if (table.array.shape.size() != 2 || table.array.items.size() != folds.size() * 3) return {};
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < 3; ++part) {
      TALLELE_ASSIGN(const PickledArray names,
                     ReadPickledArray(*table.array.items[f * 3 + part], table.where));
      const std::vector<int64_t>& rows = folds[f][part];
      const auto width = static_cast<size_t>(names.item_size);
      if (names.type != 'S' || names.bytes.size() != rows.size() * width) {
        return InputError("the partition's rows and sample names do not agree", table.where);
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        std::string_view name = names.bytes.substr(i * width, width);
        while (!name.empty() && name.back() == '\0') name.remove_suffix(1);
        if (name == samples[static_cast<size_t>(rows[i])]) continue;
        return InputError(
            fmt::format("fold {}, {} list, entry {}: the sample's name is not that of the "
                        "dataset's row {}",
                        f, kPartNames[part], i, rows[i]),
            table.where, "Give the partition that was made for this dataset.");
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
  TALLELE_TRY(archive.Add("folds_indexes.npy", WriteNpyHeader("|O", shape) + IndexTable(folds)));
  TALLELE_TRY(
      archive.Add("folds_samples.npy", WriteNpyHeader("|O", shape) + SampleTable(folds, samples)));
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
  TALLELE_ASSIGN(const ObjectTable table, ReadObjects(archive, "folds_indexes"));
  std::vector<Fold> folds(static_cast<size_t>(table.array.shape[0]));
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < 3; ++part) {
      TALLELE_ASSIGN(folds[f][part], RowsOf(table, f * 3 + part));
      TALLELE_TRY(CheckRows(folds[f][part], samples.size(),
                            fmt::format("{}, fold {}, {} list", path, f, kPartNames[part])));
    }
  }
  if (archive.Find("folds_samples.npy")) TALLELE_TRY(CheckNames(archive, folds, samples));
  return folds;
}

}  // namespace tallele

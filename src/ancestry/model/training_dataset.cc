#include "ancestry/model/training_dataset.h"

#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/file_env.h"
#include "base/hashing.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

// Unpacked bytes may be so many times the file's: HDF5's usual filters do no better.
constexpr uint64_t kLargestRatio = 1032;

// Closes an HDF5 identifier of any kind.
class Handle {
 public:
  explicit Handle(hid_t id = -1) : id_(id) {}
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  hid_t id() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
};

struct Table {
  Handle data;
  std::vector<hsize_t> shape;
};

}  // namespace

struct TrainingDataset::State {
  std::string path;
  uint64_t file_bytes = 0;
  Handle file;
  Table inputs;
  std::vector<std::string> snp_names, samples, class_names;
  std::vector<int64_t> labels;

  Error Fail(const std::string& what, const std::string& dataset = {}) const {
    return InputError(what, dataset.empty() ? path : path + ", dataset " + dataset);
  }

  Result<Table> OpenTable(const std::string& name, size_t dimensions) const {
    Table table;
    if (H5Lexists(file.id(), name.c_str(), H5P_DEFAULT) <= 0) {
      return Fail("the file lacks a dataset", name);
    }
    table.data = Handle(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT));
    if (!table.data.ok()) return Fail("a dataset cannot be opened", name);
    const Handle space(H5Dget_space(table.data.id()));
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank != static_cast<int>(dimensions)) {
      return Fail(fmt::format("a dataset has {} dimensions instead of {}", rank, dimensions), name);
    }
    table.shape.resize(dimensions);
    H5Sget_simple_extent_dims(space.id(), table.shape.data(), nullptr);
    const Handle type(H5Dget_type(table.data.id()));
    uint64_t bytes = H5Tget_size(type.id());
    for (const hsize_t length : table.shape) {
      if (__builtin_mul_overflow(bytes, length, &bytes)) bytes = ~uint64_t{0};
    }
    if (bytes / kLargestRatio > file_bytes) {
      return Fail("a dataset claims to be larger than the file can hold", name);
    }
    return table;
  }

  Result<std::vector<std::string>> ReadTexts(const std::string& name) const {
    TALLELE_ASSIGN(const Table table, OpenTable(name, 1));
    const Handle type(H5Dget_type(table.data.id()));
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0) {
      return Fail("a dataset holds no fixed-width texts", name);
    }
    const size_t width = H5Tget_size(type.id());
    std::string bytes(width * table.shape[0], '\0');
    if (H5Dread(table.data.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      return Fail("a dataset cannot be read", name);
    }
    std::vector<std::string> texts;
    for (size_t i = 0; i < table.shape[0]; ++i) {
      const char* text = bytes.data() + i * width;
      texts.emplace_back(text, strnlen(text, width));
    }
    return texts;
  }

  Result<void> ReadLabels() {
    TALLELE_ASSIGN(const Table table, OpenTable("class_labels", 1));
    labels.resize(table.shape[0]);
    if (H5Dread(table.data.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data()) <
        0) {
      return Fail("a dataset cannot be read", "class_labels");
    }
    for (const int64_t label : labels) {
      if (label < 0 || label >= static_cast<int64_t>(class_names.size())) {
        return Fail("a label is no index of a class name", "class_labels");
      }
    }
    return {};
  }

  Result<void> ReadAll() {
    TALLELE_ASSIGN(inputs, OpenTable("inputs", 2));
    TALLELE_ASSIGN(snp_names, ReadTexts("snp_names"));
    TALLELE_ASSIGN(samples, ReadTexts("samples"));
    TALLELE_ASSIGN(class_names, ReadTexts("class_label_names"));
    TALLELE_TRY(ReadLabels());
    if (samples.size() != inputs.shape[0] || labels.size() != inputs.shape[0]) {
      return Fail("samples, labels and genotypes are not equally many");
    }
    if (snp_names.size() != inputs.shape[1]) {
      return Fail("SNP names and columns of genotypes are not equally many");
    }
    return {};
  }

  Result<void> ReadRow(int64_t person, std::vector<int8_t>& genotypes) const {
    const hsize_t start[2] = {static_cast<hsize_t>(person), 0};
    const hsize_t count[2] = {1, inputs.shape[1]};
    const Handle space(H5Dget_space(inputs.data.id()));
    const Handle memory(H5Screate_simple(2, count, nullptr));
    genotypes.resize(inputs.shape[1]);
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dread(inputs.data.id(), H5T_NATIVE_INT8, memory.id(), space.id(), H5P_DEFAULT,
                genotypes.data()) < 0) {
      return Fail(fmt::format("row {} cannot be read", person), "inputs");
    }
    return {};
  }
};

TrainingDataset::TrainingDataset(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrainingDataset::~TrainingDataset() = default;
TrainingDataset::TrainingDataset(TrainingDataset&&) noexcept = default;
TrainingDataset& TrainingDataset::operator=(TrainingDataset&&) noexcept = default;

Result<TrainingDataset> TrainingDataset::Open(const std::string& path) {
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(path));
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // libraries do not print
  auto state = std::make_unique<State>();
  state->path = path;
  state->file_bytes = identity.size;
  state->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!state->file.ok()) {
    return InputError("this is no HDF5 file that can be read", path,
                      "Check that the file is complete.");
  }
  TALLELE_TRY(state->ReadAll());
  return TrainingDataset(std::move(state));
}

const std::string& TrainingDataset::path() const { return state_->path; }
size_t TrainingDataset::num_people() const { return state_->inputs.shape[0]; }
size_t TrainingDataset::num_snps() const { return state_->inputs.shape[1]; }
const std::vector<std::string>& TrainingDataset::snp_names() const { return state_->snp_names; }
const std::vector<std::string>& TrainingDataset::samples() const { return state_->samples; }
const std::vector<std::string>& TrainingDataset::class_names() const { return state_->class_names; }
const std::vector<int64_t>& TrainingDataset::labels() const { return state_->labels; }

Result<std::vector<float>> TrainingDataset::ReadRegressionValues() const {
  constexpr char kName[] = "regression_labels";
  TALLELE_ASSIGN(const Table table, state_->OpenTable(kName, 1));
  if (table.shape[0] != num_people()) {
    return state_->Fail("regression values and people are not equally many", kName);
  }
  std::vector<float> values(table.shape[0]);
  if (H5Dread(table.data.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) <
      0) {
    return state_->Fail("a dataset cannot be read", kName);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return state_->Fail(fmt::format("the value of row {} is no number", i), kName);
    }
  }
  return values;
}

Result<void> TrainingDataset::ReadRows(std::span<const int64_t> people,
                                       std::span<uint8_t> rows) const {
  const size_t stride = PackedRowStride(num_snps());
  std::vector<int8_t> genotypes;
  std::fill(rows.begin(), rows.end(), uint8_t{0});
  for (size_t r = 0; r < people.size(); ++r) {
    if (people[r] < 0 || people[r] >= static_cast<int64_t>(num_people())) {
      Error error = state_->Fail("a row is not in the dataset", "inputs");
      error.found = fmt::format("{}", people[r]);
      error.expected = fmt::format("0 to {}", num_people() - 1);
      return error;
    }
    TALLELE_TRY(state_->ReadRow(people[r], genotypes));
    uint8_t* row = rows.data() + r * stride;
    for (size_t j = 0; j < genotypes.size(); ++j) {
      const int8_t x = genotypes[j];
      if (x < -1 || x > 2) {
        return state_->Fail(
            fmt::format("row {}, SNP {} holds {}, which is no genotype", people[r], j, x),
            "inputs");
      }
      row[j / 4] |= static_cast<uint8_t>((x < 0 ? 3 : x) << (2 * (j % 4)));
    }
  }
  return {};
}

std::string NamesChecksum(const TrainingDataset& dataset) {
  Sha256 checksum;
  for (const auto* list : {&dataset.samples(), &dataset.snp_names(), &dataset.class_names()}) {
    checksum.Update(fmt::format("{}\n", list->size()));
    for (const std::string& name : *list) checksum.Update(name + "\n");
  }
  for (const int64_t label : dataset.labels()) checksum.Update(fmt::format("{}\n", label));
  return checksum.HexDigest();
}

}  // namespace tallele

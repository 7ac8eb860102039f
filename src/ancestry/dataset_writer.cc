#include "ancestry/dataset_writer.h"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/file_env.h"

namespace tallele {
namespace {

constexpr size_t kBufferBytes = 8 << 20;

// Closes an HDF5 identifier of any kind.
class Handle {
 public:
  explicit Handle(hid_t id = -1) : id_(id) {}
  ~Handle() { Close(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  hid_t id() const { return id_; }
  bool ok() const { return id_ >= 0; }
  bool Close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || H5Idec_ref(id) >= 0;
  }

 private:
  hid_t id_;
};

// The genotypes of four 2-bit codes.
std::array<std::array<int8_t, 4>, 256> MakeDecodeTable() {
  std::array<std::array<int8_t, 4>, 256> table{};
  for (size_t byte = 0; byte < 256; ++byte) {
    for (size_t k = 0; k < 4; ++k) {
      const int code = static_cast<int>(byte >> (2 * k) & 3);
      table[byte][k] = static_cast<int8_t>(code == 3 ? -1 : code);
    }
  }
  return table;
}

}  // namespace

struct DatasetWriter::State {
  std::string path, temporary;
  Handle file, inputs;
  size_t num_people = 0, num_snps = 0, num_written = 0;
  std::vector<int8_t> buffer;  // whole rows that are not written yet
  bool committed = false;

  ~State() {
    inputs.Close();
    file.Close();
    if (!committed) unlink(temporary.c_str());
  }

  Error Fail(const std::string& what) const { return IoError(what, temporary, errno); }

  Result<void> WriteTexts(const char* name, std::span<const std::string> texts) {
    size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, text.size());
    std::string bytes(width * texts.size(), '\0');
    for (size_t i = 0; i < texts.size(); ++i) bytes.replace(i * width, texts[i].size(), texts[i]);
    const Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), width);
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    return WriteList(name, type.id(), type.id(), texts.size(), bytes.data());
  }

  Result<void> WriteList(const char* name, hid_t stored, hid_t native, size_t count,
                         const void* data) {
    const hsize_t shape[] = {count};
    const Handle space(H5Screate_simple(1, shape, nullptr));
    const Handle list(
        H5Dcreate2(file.id(), name, stored, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (!list.ok() || H5Dwrite(list.id(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
      return Fail(fmt::format("dataset {} cannot be written", name));
    }
    return {};
  }

  Result<void> CreateInputs() {
    const hsize_t shape[] = {num_people, num_snps};
    const Handle space(H5Screate_simple(2, shape, nullptr));
    inputs = Handle(H5Dcreate2(file.id(), "inputs", H5T_STD_I8LE, space.id(), H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT));
    return inputs.ok() ? Result<void>() : Fail("dataset inputs cannot be created");
  }

  Result<void> Flush() {
    if (buffer.empty()) return {};
    const hsize_t count[] = {buffer.size() / num_snps, num_snps};
    const hsize_t start[] = {num_written - count[0], 0};
    const Handle space(H5Dget_space(inputs.id()));
    const Handle memory(H5Screate_simple(2, count, nullptr));
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0 ||
        H5Dwrite(inputs.id(), H5T_NATIVE_INT8, memory.id(), space.id(), H5P_DEFAULT,
                 buffer.data()) < 0) {
      return Fail("genotypes cannot be written");
    }
    buffer.clear();
    return {};
  }

  Result<void> Publish() {
    if (!inputs.Close() || !file.Close()) return Fail("the dataset cannot be written");
    const int descriptor = open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    if (!synced) return IoError("the dataset cannot be synced", temporary, reason);
    TALLELE_TRY(PosixFileEnv().Rename(temporary, path));
    committed = true;
    return PosixFileEnv().SyncFolder(FolderOf(path));
  }
};

DatasetWriter::DatasetWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
DatasetWriter::~DatasetWriter() = default;
DatasetWriter::DatasetWriter(DatasetWriter&&) noexcept = default;
DatasetWriter& DatasetWriter::operator=(DatasetWriter&&) noexcept = default;

Result<DatasetWriter> DatasetWriter::Create(const std::string& path, const DatasetTables& tables) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // libraries do not print
  if (tables.samples.empty() || tables.snp_names.empty()) {
    return InputError("a dataset needs people and SNPs", path);
  }
  auto state = std::make_unique<State>();
  state->path = path;
  state->temporary = fmt::format("{}.{}.tmp", path, getpid());
  state->num_people = tables.samples.size();
  state->num_snps = tables.snp_names.size();
  state->file =
      Handle(H5Fcreate(state->temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  if (!state->file.ok()) return state->Fail("the dataset cannot be created");
  TALLELE_TRY(state->CreateInputs());
  TALLELE_TRY(state->WriteTexts("snp_names", tables.snp_names));
  TALLELE_TRY(state->WriteTexts("samples", tables.samples));
  TALLELE_TRY(state->WriteTexts("class_label_names", tables.class_names));
  TALLELE_TRY(state->WriteList("class_labels", H5T_STD_I64LE, H5T_NATIVE_INT64,
                               tables.labels.size(), tables.labels.data()));
  if (!tables.values.empty()) {
    TALLELE_TRY(state->WriteList("regression_labels", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                 tables.values.size(), tables.values.data()));
  }
  return DatasetWriter(std::move(state));
}

Result<void> DatasetWriter::AppendRow(std::span<const uint8_t> row) {
  static const auto kDecode = MakeDecodeTable();
  State& s = *state_;
  if (s.num_written == s.num_people) return InternalError("a dataset got too many rows");
  const size_t at = s.buffer.size();
  s.buffer.resize(at + s.num_snps);
  for (size_t j = 0; j < s.num_snps; ++j) s.buffer[at + j] = kDecode[row[j / 4]][j % 4];
  ++s.num_written;
  return s.buffer.size() >= kBufferBytes ? s.Flush() : Result<void>();
}

Result<void> DatasetWriter::Commit() {
  if (state_->num_written != state_->num_people) return InternalError("a dataset lacks rows");
  TALLELE_TRY(state_->Flush());
  return state_->Publish();
}

}  // namespace tallele

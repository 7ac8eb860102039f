#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "ancestry/model/checkpoint.h"
#include "ancestry/model/pickle.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kPickleMember = "data.pkl";
constexpr size_t kMostTensors = 10000;

float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  double magnitude;
  if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return static_cast<float>((half & 0x8000) != 0 ? -magnitude : magnitude);
}

// A storage as the persistent id ('storage', type, key, location, count) describes it.
struct StorageId {
  PickleGlobal type;
  std::string key;
  int64_t count;
};

size_t ElementBytes(PickleGlobal type) {
  return type == PickleGlobal::kHalfStorage ? 2 : type == PickleGlobal::kFloatStorage ? 4 : 8;
}

class CheckpointReader {
 public:
  CheckpointReader(const ZipArchive& archive, std::string stem, uint64_t file_bytes)
      : archive_(archive),
        stem_(std::move(stem)),
        where_(archive.path()),
        most_elements_(file_bytes * 8) {}

  Result<std::vector<NamedTensor>> ReadState(const PickleValue& dict) {
    std::vector<NamedTensor> state;
    const auto& entries = dict.items();
    if (!dict.Is(Kind::kDict) || entries.size() > 2 * kMostTensors) {
      return Fail("the checkpoint has no state dict of tensors");
    }
    for (size_t i = 0; i < entries.size(); i += 2) {
      if (!entries[i]->Is(Kind::kText)) return Fail("the state dict has a key that is no text");
      NamedTensor named;
      named.name = entries[i]->text;
      TALLELE_ASSIGN(named.tensor, ReadTensor(*entries[i + 1], named.name));
      state.push_back(std::move(named));
    }
    return state;
  }

 private:
  Error Fail(std::string what, std::string found = {}) const {
    Error error = InputError(std::move(what), where_);
    error.found = std::move(found);
    return error;
  }

  Result<StorageId> ReadStorageId(const PickleValue& value, const std::string& name) const {
    const auto& id = value.items();
    if (!value.Is(Kind::kPersistent) || id.size() != 5 || !id[0]->Is(Kind::kText) ||
        id[0]->text != "storage" || !id[1]->Is(Kind::kGlobal) || !id[2]->Is(Kind::kText) ||
        !id[4]->Is(Kind::kInteger) || id[4]->integer < 0) {
      return Fail(fmt::format("tensor {} has a storage of unknown form", name));
    }
    switch (id[1]->global) {
      case PickleGlobal::kFloatStorage:
      case PickleGlobal::kDoubleStorage:
      case PickleGlobal::kHalfStorage:
      case PickleGlobal::kLongStorage:
        return StorageId{id[1]->global, std::string(id[2]->text), id[4]->integer};
      default:
        return Fail(fmt::format("tensor {} has a storage of unknown type", name));
    }
  }

  // The bytes of a storage; kept until the next one, since tensors may share it.
  Result<const std::string*> ReadStorage(const StorageId& id, const std::string& name) {
    if (id.key != storage_key_ || !storage_read_) {
      TALLELE_ASSIGN(storage_, archive_.Read(stem_ + "data/" + id.key));
      storage_key_ = id.key;
      storage_read_ = true;
    }
    if (storage_.size() / ElementBytes(id.type) != static_cast<uint64_t>(id.count) ||
        storage_.size() % ElementBytes(id.type) != 0) {
      return Fail(fmt::format("tensor {} has a storage of another length than stated", name),
                  fmt::format("{} bytes for {} elements", storage_.size(), id.count));
    }
    return &storage_;
  }

  Result<std::vector<int64_t>> ReadLengths(const PickleValue& value,
                                           const std::string& name) const {
    std::vector<int64_t> lengths;
    if (!value.Is(Kind::kTuple) || value.items().size() > 4) {
      return Fail(fmt::format("tensor {} has a shape of unknown form", name));
    }
    for (const PickleValue* item : value.items()) {
      if (!item->Is(Kind::kInteger) || item->integer < 0 || item->integer > int64_t{1} << 40) {
        return Fail(fmt::format("tensor {} has an impossible shape or stride", name));
      }
      lengths.push_back(item->integer);
    }
    return lengths;
  }

  // _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks).
  Result<Tensor> ReadTensor(const PickleValue& value, const std::string& name) {
    const auto& arguments = value.items();
    if (!value.IsObject(PickleGlobal::kRebuildTensor) || arguments.size() < 4 ||
        !arguments[1]->Is(Kind::kInteger) || arguments[1]->integer < 0) {
      return Fail(fmt::format("entry {} of the state dict is no tensor", name));
    }
    TALLELE_ASSIGN(const StorageId id, ReadStorageId(*arguments[0], name));
    Tensor tensor;
    TALLELE_ASSIGN(tensor.shape, ReadLengths(*arguments[2], name));
    TALLELE_ASSIGN(const std::vector<int64_t> strides, ReadLengths(*arguments[3], name));
    int64_t elements = 1;
    // The last element's place; with broadcast strides a small storage could claim any size.
    __int128 last = arguments[1]->integer;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      if (strides.size() != tensor.shape.size() ||
          __builtin_mul_overflow(elements, tensor.shape[d], &elements)) {
        return Fail(fmt::format("tensor {} has an impossible shape", name));
      }
      last += static_cast<__int128>(tensor.shape[d] - 1) * strides[d];
    }
    if (elements > id.count || (elements > 0 && last >= id.count)) {
      return Fail(fmt::format("tensor {} reaches beyond its storage", name));
    }
    TALLELE_ASSIGN(const std::string* const bytes, ReadStorage(id, name));
    // Tensors may share a storage, so the file's size does not bound their number by itself.
    total_elements_ += static_cast<uint64_t>(elements);
    if (total_elements_ > most_elements_) {
      return Fail("the tensors of the checkpoint are far larger than the file");
    }
    tensor.is_integer = id.type == PickleGlobal::kLongStorage;
    Gather(id.type, *bytes, arguments[1]->integer, strides, tensor);
    return tensor;
  }

  static void Gather(PickleGlobal type, const std::string& bytes, int64_t offset,
                     const std::vector<int64_t>& strides, Tensor& tensor) {
    const int64_t elements = tensor.num_elements();
    for (int64_t i = 0; i < elements; ++i) {
      int64_t at = offset;
      int64_t rest = i;
      for (size_t d = strides.size(); d-- > 0;) {
        at += rest % tensor.shape[d] * strides[d];
        rest /= tensor.shape[d];
      }
      const char* from = bytes.data() + static_cast<size_t>(at) * ElementBytes(type);
      if (type == PickleGlobal::kLongStorage) {
        int64_t x;
        std::memcpy(&x, from, 8);
        tensor.integers.push_back(x);
      } else if (type == PickleGlobal::kFloatStorage) {
        float x;
        std::memcpy(&x, from, 4);
        tensor.floats.push_back(x);
      } else if (type == PickleGlobal::kDoubleStorage) {
        double x;
        std::memcpy(&x, from, 8);
        tensor.floats.push_back(static_cast<float>(x));
      } else {
        uint16_t x;
        std::memcpy(&x, from, 2);
        tensor.floats.push_back(HalfToFloat(x));
      }
    }
  }

  const ZipArchive& archive_;
  std::string stem_;
  std::string where_;
  std::string storage_;
  std::string storage_key_;
  bool storage_read_ = false;
  uint64_t total_elements_ = 0;
  uint64_t most_elements_;
};

Result<void> ReadNotes(const PickleValue& root, const std::string& where, Checkpoint& checkpoint) {
  if (const PickleValue* epoch = root.Find("epoch"); epoch && epoch->Is(Kind::kInteger)) {
    checkpoint.epoch = epoch->integer;
  }
  if (const PickleValue* patience = root.Find("patience");
      patience && patience->Is(Kind::kInteger)) {
    checkpoint.patience = patience->integer;
  }
  const PickleValue* best = root.Find("best_results");
  if (best == nullptr) return {};
  if (const PickleValue* loss = best->Find("mean_loss")) {
    TALLELE_ASSIGN(checkpoint.mean_loss, ReadPickledReal(*loss, where));
  }
  if (const PickleValue* accuracy = best->Find("mean_acc")) {
    TALLELE_ASSIGN(checkpoint.mean_accuracy, ReadPickledReal(*accuracy, where));
  }
  return {};
}

// "stem/" of "stem/data.pkl"; an error when there is none or more than one.
Result<std::string> FindStem(const ZipArchive& archive) {
  std::string stem;
  int found = 0;
  for (const std::string& name : archive.names()) {
    const size_t slash = name.rfind('/');
    const size_t start = slash == std::string::npos ? 0 : slash + 1;
    if (std::string_view(name).substr(start) != kPickleMember) continue;
    stem = name.substr(0, start);
    ++found;
  }
  if (found == 1) return stem;
  return InputError("this is no PyTorch checkpoint of the ZIP format", archive.path(),
                    "Save it again with torch.save of PyTorch 1.6 or newer.");
}

Result<void> CheckByteOrder(const ZipArchive& archive, const std::string& stem) {
  if (!archive.Find(stem + "byteorder")) return {};
  TALLELE_ASSIGN(const std::string order, archive.Read(stem + "byteorder"));
  if (order == "little") return {};
  return UnsupportedError("the checkpoint is not stored in little-endian order", archive.path());
}

}  // namespace

int64_t Tensor::num_elements() const {
  int64_t elements = 1;
  for (const int64_t length : shape) elements *= length;
  return elements;
}

const Tensor* Checkpoint::Find(std::string_view name) const {
  for (const NamedTensor& named : state) {
    if (named.name == name) return &named.tensor;
  }
  return nullptr;
}

Result<Checkpoint> ReadCheckpoint(const std::string& path) {
  TALLELE_ASSIGN(const ZipArchive archive, ZipArchive::Open(path));
  TALLELE_ASSIGN(const std::string stem, FindStem(archive));
  TALLELE_TRY(CheckByteOrder(archive, stem));
  const std::string member = stem + std::string(kPickleMember);
  TALLELE_ASSIGN(std::string bytes, archive.Read(member));
  TALLELE_ASSIGN(const Pickle pickle, Pickle::Read(std::move(bytes), path + ", member " + member));
  Checkpoint checkpoint;
  const PickleValue* state = pickle.root().Find("model_state_dict");
  if (state != nullptr) {
    TALLELE_TRY(ReadNotes(pickle.root(), path, checkpoint));
  } else {
    state = &pickle.root();
  }
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(path));
  CheckpointReader reader(archive, stem, identity.size);
  TALLELE_ASSIGN(checkpoint.state, reader.ReadState(*state));
  return checkpoint;
}

}  // namespace tallele

#include <bit>
#include <filesystem>

#include <fmt/format.h>

#include "ancestry/model/checkpoint.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

// Writes the opcodes of protocol 2, without a memo: no value is referred to twice.
class PickleWriter {
 public:
  PickleWriter() { out_ = "\x80\x02"; }

  void Op(char code) { out_.push_back(code); }
  void Global(std::string_view module, std::string_view name) {
    out_ += fmt::format("c{}\n{}\n", module, name);
  }
  void Text(std::string_view text) {
    Op('X');
    Number(text.size(), 4);
    out_ += text;
  }
  void Integer(int64_t value) {
    if (value >= 0 && value < 256) {
      Op('K');
      Number(static_cast<uint64_t>(value), 1);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
      Op('J');
      Number(static_cast<uint64_t>(value), 4);
    } else {
      out_ += "\x8a\x08";
      Number(static_cast<uint64_t>(value), 8);
    }
  }
  void Real(double value) {
    Op('G');
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 7; i >= 0; --i) out_.push_back(static_cast<char>(bits >> (8 * i)));
  }
  void Integers(const std::vector<int64_t>& values) {
    Op('(');
    for (const int64_t value : values) Integer(value);
    Op('t');
  }
  std::string Take() { return std::move(out_); }

 private:
  void Number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string out_;
};

void WriteEmptyOrderedDict(PickleWriter& pickle) {
  pickle.Global("collections", "OrderedDict");
  pickle.Op(')');
  pickle.Op('R');
}

void WriteTensor(const Tensor& tensor, size_t key, PickleWriter& pickle) {
  const int64_t elements = tensor.num_elements();
  pickle.Global("torch._utils", "_rebuild_tensor_v2");
  pickle.Op('(');
  pickle.Op('(');
  pickle.Text("storage");
  pickle.Global("torch", tensor.is_integer ? "LongStorage" : "FloatStorage");
  pickle.Text(fmt::format("{}", key));
  pickle.Text("cpu");
  pickle.Integer(elements);
  pickle.Op('t');
  pickle.Op('Q');
  pickle.Integer(0);
  pickle.Integers(tensor.shape);
  std::vector<int64_t> strides(tensor.shape.size(), 1);
  for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * tensor.shape[d];
  pickle.Integers(strides);
  pickle.Op('\x89');
  WriteEmptyOrderedDict(pickle);  // backward hooks
  pickle.Op('t');
  pickle.Op('R');
}

std::string WritePickle(const Checkpoint& checkpoint) {
  PickleWriter pickle;
  pickle.Op('}');
  pickle.Op('(');
  if (checkpoint.epoch) {
    pickle.Text("epoch");
    pickle.Integer(*checkpoint.epoch);
  }
  pickle.Text("model_state_dict");
  WriteEmptyOrderedDict(pickle);
  pickle.Op('(');
  for (size_t i = 0; i < checkpoint.state.size(); ++i) {
    pickle.Text(checkpoint.state[i].name);
    WriteTensor(checkpoint.state[i].tensor, i, pickle);
  }
  pickle.Op('u');
  if (checkpoint.mean_loss && checkpoint.mean_accuracy) {
    pickle.Text("best_results");
    pickle.Op('}');
    pickle.Op('(');
    pickle.Text("mean_loss");
    pickle.Real(*checkpoint.mean_loss);
    pickle.Text("mean_acc");
    pickle.Real(*checkpoint.mean_accuracy);
    pickle.Op('u');
  }
  if (checkpoint.patience) {
    pickle.Text("patience");
    pickle.Integer(*checkpoint.patience);
  }
  pickle.Op('u');
  pickle.Op('.');
  return pickle.Take();
}

template <typename T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

Result<void> WriteCheckpoint(const Checkpoint& checkpoint, const std::string& path, FileEnv& env) {
  const std::string stem = std::filesystem::path(path).stem().string();
  TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(path, env));
  TALLELE_TRY(zip.Add(stem + "/data.pkl", WritePickle(checkpoint)));
  for (size_t i = 0; i < checkpoint.state.size(); ++i) {
    const Tensor& tensor = checkpoint.state[i].tensor;
    TALLELE_TRY(zip.Add(fmt::format("{}/data/{}", stem, i),
                        tensor.is_integer ? BytesOf(tensor.integers) : BytesOf(tensor.floats)));
  }
  TALLELE_TRY(zip.Add(stem + "/version", "3\n"));
  return zip.Finish();
}

}  // namespace tallele

#ifndef TALLELE_ANCESTRY_MODEL_CHECKPOINT_H_
#define TALLELE_ANCESTRY_MODEL_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// One tensor of a state dict, contiguous and row-major. Half and double precision are converted
// to float32; integer tensors (the batch counters of batch norms) are kept apart.
struct Tensor {
  std::vector<int64_t> shape;  // empty: a scalar
  bool is_integer = false;
  std::vector<float> floats;      // of a float tensor
  std::vector<int64_t> integers;  // of an integer tensor

  int64_t num_elements() const;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// What a PyTorch `.pt` file of upstream holds (docs/formats/package.md, "Checkpoints").
struct Checkpoint {
  std::optional<int64_t> epoch;  // 0: the untrained baseline
  std::optional<double> mean_loss;
  std::optional<double> mean_accuracy;  // per cent
  std::optional<int64_t> patience;
  std::vector<NamedTensor> state;  // in stored order

  // Null when the state dict lacks it.
  const Tensor* Find(std::string_view name) const;
};

// Reads a PyTorch ZIP archive whose pickle is a checkpoint (a dict with `model_state_dict`) or a
// bare state dict. Strides are honoured, device tags ignored. Errors name file, member and byte.
Result<Checkpoint> ReadCheckpoint(const std::string& path);

// Writes a checkpoint that `torch.load` reads: `<stem>/data.pkl` of protocol 2, one storage per
// tensor, `<stem>/version`. The best results are written as plain floats, so that safe loaders
// (`weights_only=True`) accept the file too.
Result<void> WriteCheckpoint(const Checkpoint& checkpoint, const std::string& path,
                             FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_CHECKPOINT_H_

#ifndef TALLELE_ANCESTRY_TRAIN_MAIN_NETWORK_H_
#define TALLELE_ANCESTRY_TRAIN_MAIN_NETWORK_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ancestry/train/parameters.h"
#include "kernels/cpu_target.h"

namespace tallele {

// What a batch of people should come out as: classes, or (regression) values.
struct BatchTargets {
  std::span<const int64_t> classes;
  std::span<const float> values;

  bool is_regression() const { return classes.empty(); }
};

// Sets which units of a layer's rows survive dropout: keep[row * width + unit] is 1 or 0. Called
// for layer 0 (behind the fat layer), then for each hidden layer.
using FillHiddenMask =
    std::function<void(size_t layer, size_t rows, size_t width, std::span<uint8_t> keep)>;

// The network behind the fat layer's sums, for one batch at a time:
//   h_0 = Dropout(BN(relu(z_1 + bias))),  h_l = Dropout(BN(relu(h_(l-1) W_l + b_l))),
//   outputs = h W_o + b_o;  loss = mean cross entropy, or mean squared error in a regression.
// Batch norm has eps 1e-5; training uses the batch's mean and biased variance and moves the
// running ones by 0.1, the variance unbiased (upstream, PyTorch).
class MainNetwork {
 public:
  explicit MainNetwork(CpuTarget target) : target_(target) {}

  // A training batch: `sums` are the fat layer's (rows x width, bias not added). Updates the
  // running statistics and returns the loss. `dropout` is the share of units that are dropped;
  // `fill_mask` is called only when it is above 0.
  float Forward(const FloatTable& sums, const BatchTargets& targets, double dropout,
                const FillHiddenMask& fill_mask, ModelState& state);

  // Logits (values in a regression) of the last Forward.
  const FloatTable& outputs() const { return outputs_; }

  // After Forward: adds nothing, sets every main gradient but the fat weights', and leaves the
  // gradient with respect to the sums in `sums_gradient`.
  void Backward(const ModelState& state, Parameters& gradients, FloatTable& sums_gradient);

  // Outputs in evaluation (running statistics, no dropout); `hidden`, when given, gets the input
  // of the output layer.
  void Evaluate(const FloatTable& sums, const ModelState& state, FloatTable& outputs,
                FloatTable* hidden = nullptr) const;

 private:
  // What Backward needs of one layer.
  struct Layer {
    FloatTable rectified;   // relu(z)
    FloatTable normalised;  // before the norm's weight and bias
    FloatVector inverse_deviation;
    FloatTable out;
    std::vector<uint8_t> keep;
  };

  void NormaliseBatch(const NormParameters& norm, RunningNorm& running, Layer& layer) const;
  void DropUnits(size_t index, Layer& layer, const FillHiddenMask& fill_mask) const;
  void NormBackward(const NormParameters& norm, const Layer& layer, NormParameters& gradient,
                    FloatTable& d) const;
  void LinearBackward(const FloatTable& inputs, const LinearParameters& layer, const FloatTable& d,
                      LinearParameters& gradient, FloatTable& d_inputs) const;
  float Loss(const BatchTargets& targets);

  CpuTarget target_;
  double dropout_ = 0;
  std::vector<Layer> layers_;
  FloatTable outputs_;
  FloatTable d_outputs_;
};

// Mean cross entropy of rows of logits (in double, rounded to float once), and with `gradient` its
// derivative.
float CrossEntropy(const FloatTable& logits, std::span<const int64_t> classes,
                   FloatTable* gradient);
// Mean of (output - value)^2 over rows of one output.
float SquaredError(const FloatTable& outputs, std::span<const float> values, FloatTable* gradient);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_MAIN_NETWORK_H_

#include "ancestry/train/main_network.h"

#include <algorithm>
#include <cmath>

#include "ancestry/model/fixed_math.h"

namespace tallele {
namespace {

constexpr float kNormEpsilon = 1e-5f;
constexpr float kNormMomentum = 0.1f;

FloatProduct Product(const FloatTable& left, const FloatTable& right, FloatTable& out) {
  FloatProduct p{};
  p.left = {left.row(0), left.stride(), 1};
  p.right = right.row(0);
  p.right_stride = right.stride();
  p.out = out.row(0);
  p.out_stride = out.stride();
  p.rows = left.rows();
  p.depth = left.columns();
  p.columns = right.stride();
  return p;
}

// inputs W + b, the bias first in each sum.
void ApplyLinear(CpuTarget target, const FloatTable& inputs, const LinearParameters& layer,
                 FloatTable& out) {
  out.Resize(inputs.rows(), layer.weight.columns());
  for (size_t r = 0; r < out.rows(); ++r) {
    std::copy_n(layer.bias.row(0), out.stride(), out.row(r));
  }
  AddProduct(target, Product(inputs, layer.weight, out));
}

void AddBiasAndRectify(const FloatTable& sums, const FloatTable& bias, FloatTable& out) {
  out.Resize(sums.rows(), sums.columns());
  for (size_t r = 0; r < out.rows(); ++r) {
    for (size_t c = 0; c < out.columns(); ++c) {
      out.at(r, c) = std::max(sums.at(r, c) + bias.at(0, c), 0.0f);
    }
  }
}

void Rectify(FloatTable& table) {
  for (float& value : table.all()) value = std::max(value, 0.0f);
}

// Sum over rows of each column, in double.
std::vector<double> ColumnSums(const FloatTable& table) {
  std::vector<double> sums(table.columns(), 0.0);
  for (size_t r = 0; r < table.rows(); ++r) {
    for (size_t c = 0; c < table.columns(); ++c) sums[c] += table.at(r, c);
  }
  return sums;
}

std::vector<double> ColumnProducts(const FloatTable& a, const FloatTable& b) {
  std::vector<double> sums(a.columns(), 0.0);
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.columns(); ++c) {
      sums[c] += static_cast<double>(a.at(r, c)) * static_cast<double>(b.at(r, c));
    }
  }
  return sums;
}

void NormaliseRunning(const NormParameters& norm, const RunningNorm& running, FloatTable& h) {
  for (size_t c = 0; c < h.columns(); ++c) {
    const float inverse = 1.0f / std::sqrt(running.variance[c] + kNormEpsilon);
    const float factor = inverse * norm.weight.at(0, c);
    for (size_t r = 0; r < h.rows(); ++r) {
      h.at(r, c) = (h.at(r, c) - running.mean[c]) * factor + norm.bias.at(0, c);
    }
  }
}

}  // namespace

float CrossEntropy(const FloatTable& logits, std::span<const int64_t> classes,
                   FloatTable* gradient) {
  const size_t num_classes = logits.columns();
  const double n = static_cast<double>(logits.rows());
  double loss = 0;
  std::vector<double> exponentials(num_classes);
  for (size_t r = 0; r < logits.rows(); ++r) {
    const double largest =
        static_cast<double>(*std::max_element(logits.row(r), logits.row(r) + num_classes));
    double sum = 0;
    for (size_t c = 0; c < num_classes; ++c) {
      sum += exponentials[c] = FixedExp(static_cast<double>(logits.at(r, c)) - largest);
    }
    const auto truth = static_cast<size_t>(classes[r]);
    // A sum that is not finite makes the loss NaN: FixedLog takes numbers only.
    loss += std::isfinite(sum)
                ? FixedLog(sum) - (static_cast<double>(logits.at(r, truth)) - largest)
                : std::nan("");
    if (gradient == nullptr) continue;
    for (size_t c = 0; c < num_classes; ++c) {
      const double probability = exponentials[c] / sum - (c == truth ? 1.0 : 0.0);
      gradient->at(r, c) = static_cast<float>(probability / n);
    }
  }
  return static_cast<float>(loss / n);
}

float SquaredError(const FloatTable& outputs, std::span<const float> values, FloatTable* gradient) {
  const double n = static_cast<double>(outputs.rows());
  double loss = 0;
  for (size_t r = 0; r < outputs.rows(); ++r) {
    const double error = static_cast<double>(outputs.at(r, 0)) - static_cast<double>(values[r]);
    loss += error * error;
    if (gradient != nullptr) gradient->at(r, 0) = static_cast<float>(2 * error / n);
  }
  return static_cast<float>(loss / n);
}

void MainNetwork::NormaliseBatch(const NormParameters& norm, RunningNorm& running,
                                 Layer& layer) const {
  const size_t rows = layer.rectified.rows(), width = layer.rectified.columns();
  const double n = static_cast<double>(rows);
  std::vector<double> mean = ColumnSums(layer.rectified), squares(width, 0.0);
  for (double& value : mean) value /= n;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; ++c) {
      const double centred = static_cast<double>(layer.rectified.at(r, c)) - mean[c];
      squares[c] += centred * centred;
    }
  }
  layer.inverse_deviation.resize(width);
  layer.normalised.Resize(rows, width);
  layer.out.Resize(rows, width);
  std::vector<float> batch_mean(width);
  for (size_t c = 0; c < width; ++c) {
    batch_mean[c] = static_cast<float>(mean[c]);
    const auto unbiased = static_cast<float>(squares[c] / (n - 1));
    layer.inverse_deviation[c] =
        static_cast<float>(1 / std::sqrt(squares[c] / n + static_cast<double>(kNormEpsilon)));
    running.mean[c] += kNormMomentum * (batch_mean[c] - running.mean[c]);
    running.variance[c] += kNormMomentum * (unbiased - running.variance[c]);
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; ++c) {
      const float x = (layer.rectified.at(r, c) - batch_mean[c]) * layer.inverse_deviation[c];
      layer.normalised.at(r, c) = x;
      layer.out.at(r, c) = x * norm.weight.at(0, c) + norm.bias.at(0, c);
    }
  }
  ++running.num_batches;
}

void MainNetwork::DropUnits(size_t index, Layer& layer, const FillHiddenMask& fill_mask) const {
  layer.keep.clear();
  if (dropout_ == 0) return;
  const size_t rows = layer.out.rows(), width = layer.out.columns();
  layer.keep.resize(rows * width);
  fill_mask(index, rows, width, layer.keep);
  const float scale = 1.0f / static_cast<float>(1 - dropout_);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; ++c) {
      layer.out.at(r, c) *= layer.keep[r * width + c] != 0 ? scale : 0.0f;
    }
  }
}

float MainNetwork::Loss(const BatchTargets& targets) {
  d_outputs_.Resize(outputs_.rows(), outputs_.columns());
  return targets.is_regression() ? SquaredError(outputs_, targets.values, &d_outputs_)
                                 : CrossEntropy(outputs_, targets.classes, &d_outputs_);
}

float MainNetwork::Forward(const FloatTable& sums, const BatchTargets& targets, double dropout,
                           const FillHiddenMask& fill_mask, ModelState& state) {
  const Parameters& p = state.parameters;
  dropout_ = dropout;
  layers_.resize(p.norms.size());
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (l == 0) {
      AddBiasAndRectify(sums, p.fat_bias, layers_[l].rectified);
    } else {
      ApplyLinear(target_, layers_[l - 1].out, p.hidden[l - 1], layers_[l].rectified);
      Rectify(layers_[l].rectified);
    }
    NormaliseBatch(p.norms[l], state.running[l], layers_[l]);
    DropUnits(l, layers_[l], fill_mask);
  }
  ApplyLinear(target_, layers_.back().out, p.output, outputs_);
  return Loss(targets);
}

void MainNetwork::LinearBackward(const FloatTable& inputs, const LinearParameters& layer,
                                 const FloatTable& d, LinearParameters& gradient,
                                 FloatTable& d_inputs) const {
  FloatProduct weights = Product(inputs, d, gradient.weight);
  weights.left = {inputs.row(0), 1, inputs.stride()};
  weights.rows = inputs.columns();
  weights.depth = inputs.rows();
  SetProduct(target_, weights);
  const std::vector<double> sums = ColumnSums(d);
  for (size_t c = 0; c < sums.size(); ++c) gradient.bias.at(0, c) = static_cast<float>(sums[c]);
  const FloatTable weight = layer.weight.Transposed();
  d_inputs.Resize(d.rows(), weight.columns());
  SetProduct(target_, Product(d, weight, d_inputs));
}

// d: the gradient of the layer's output on entry, of the values before relu on return. With
// y = w x^ + b and x^ = (x - mean) / deviation over a batch of n,
//   dx = w / (n deviation) (n dy - sum dy - x^ sum dy x^).
void MainNetwork::NormBackward(const NormParameters& norm, const Layer& layer,
                               NormParameters& gradient, FloatTable& d) const {
  const size_t rows = d.rows(), width = d.columns();
  const double n = static_cast<double>(rows);
  if (!layer.keep.empty()) {
    const float scale = 1.0f / static_cast<float>(1 - dropout_);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < width; ++c) {
        d.at(r, c) *= layer.keep[r * width + c] != 0 ? scale : 0.0f;
      }
    }
  }
  const std::vector<double> sums = ColumnSums(d), products = ColumnProducts(d, layer.normalised);
  std::vector<float> mean(width), slope(width), factor(width);
  for (size_t c = 0; c < width; ++c) {
    gradient.bias.at(0, c) = static_cast<float>(sums[c]);
    gradient.weight.at(0, c) = static_cast<float>(products[c]);
    mean[c] = static_cast<float>(sums[c] / n);
    slope[c] = static_cast<float>(products[c] / n);
    factor[c] = norm.weight.at(0, c) * layer.inverse_deviation[c];
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < width; ++c) {
      const float dx = factor[c] * (d.at(r, c) - mean[c] - layer.normalised.at(r, c) * slope[c]);
      d.at(r, c) = layer.rectified.at(r, c) > 0 ? dx : 0.0f;
    }
  }
}

void MainNetwork::Backward(const ModelState& state, Parameters& gradients,
                           FloatTable& sums_gradient) {
  const Parameters& p = state.parameters;
  FloatTable d;
  LinearBackward(layers_.back().out, p.output, d_outputs_, gradients.output, d);
  for (size_t l = layers_.size(); l-- > 0;) {
    NormBackward(p.norms[l], layers_[l], gradients.norms[l], d);
    if (l == 0) break;
    FloatTable d_inputs;
    LinearBackward(layers_[l - 1].out, p.hidden[l - 1], d, gradients.hidden[l - 1], d_inputs);
    d = std::move(d_inputs);
  }
  const std::vector<double> sums = ColumnSums(d);
  for (size_t c = 0; c < sums.size(); ++c) {
    gradients.fat_bias.at(0, c) = static_cast<float>(sums[c]);
  }
  sums_gradient = std::move(d);
}

void MainNetwork::Evaluate(const FloatTable& sums, const ModelState& state, FloatTable& outputs,
                           FloatTable* hidden) const {
  const Parameters& p = state.parameters;
  FloatTable h, next;
  AddBiasAndRectify(sums, p.fat_bias, h);
  NormaliseRunning(p.norms[0], state.running[0], h);
  for (size_t l = 0; l < p.hidden.size(); ++l) {
    ApplyLinear(target_, h, p.hidden[l], next);
    Rectify(next);
    NormaliseRunning(p.norms[l + 1], state.running[l + 1], next);
    std::swap(h, next);
  }
  ApplyLinear(target_, h, p.output, outputs);
  if (hidden != nullptr) *hidden = std::move(h);
}

}  // namespace tallele

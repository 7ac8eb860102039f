#include "ancestry/model/network.h"

#include <algorithm>
#include <cmath>

#include "ancestry/model/fixed_math.h"

namespace tallele {
namespace {

constexpr double kBatchNormEpsilon = 1e-5;

// inputs x outputs in double.
std::vector<double> Transposed(const LinearLayer& layer) {
  std::vector<double> out(layer.weight.size());
  for (size_t o = 0; o < layer.num_outputs; ++o) {
    for (size_t i = 0; i < layer.num_inputs; ++i) {
      out[i * layer.num_outputs + o] = layer.weight[o * layer.num_inputs + i];
    }
  }
  return out;
}

// out += in * weight: input after input, so each output is a sum in one fixed order however the
// compiler vectorises over outputs.
void AddProduct(const double* in, size_t num_inputs, const double* weight, size_t num_outputs,
                double* __restrict__ out) {
  for (size_t i = 0; i < num_inputs; ++i) {
    const double x = in[i];
    const double* w = weight + i * num_outputs;
    for (size_t o = 0; o < num_outputs; ++o) out[o] += x * w[o];
  }
}

}  // namespace

NetworkTail::Layer NetworkTail::Widen(const LinearLayer& layer) {
  return {layer.num_outputs, layer.num_inputs, Transposed(layer),
          std::vector<double>(layer.bias.begin(), layer.bias.end())};
}

NetworkTail::Affine NetworkTail::Fold(const BatchNorm& norm) {
  Affine affine;
  for (size_t i = 0; i < norm.mean.size(); ++i) {
    // std::sqrt is correctly rounded everywhere.
    const double factor = norm.weight[i] / std::sqrt(double{norm.variance[i]} + kBatchNormEpsilon);
    affine.factor.push_back(factor);
    affine.shift.push_back(norm.bias[i] - norm.mean[i] * factor);
  }
  return affine;
}

NetworkTail::NetworkTail(const Network& network)
    : fat_bias_(network.fat_bias.begin(), network.fat_bias.end()),
      fat_norm_(Fold(network.fat_norm)),
      output_(Widen(network.output)) {
  for (const LinearLayer& layer : network.hidden) hidden_.push_back(Widen(layer));
  for (const BatchNorm& norm : network.norms) norms_.push_back(Fold(norm));
}

void NetworkTail::Apply(const Layer& layer, const std::vector<double>& in,
                        std::vector<double>& out) {
  out = layer.bias;
  AddProduct(in.data(), layer.num_inputs, layer.weight.data(), layer.num_outputs, out.data());
}

void NetworkTail::RectifyAndNormalise(const Affine& norm, std::vector<double>& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    const double rectified = x[i] < 0 ? 0 : x[i];  // keeps NaN
    x[i] = rectified * norm.factor[i] + norm.shift[i];
  }
}

void NetworkTail::Evaluate(const double* z1, Output& output) const {
  std::vector<double>& x = output.hidden;
  x.assign(z1, z1 + fat_bias_.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] += fat_bias_[i];
  RectifyAndNormalise(fat_norm_, x);
  for (size_t layer = 0; layer < hidden_.size(); ++layer) {
    Apply(hidden_[layer], x, output.logits);
    x.swap(output.logits);
    RectifyAndNormalise(norms_[layer], x);
  }
  Apply(output_, x, output.logits);
  Softmax(output.logits, output.probabilities);
}

void Softmax(const std::vector<double>& logits, std::vector<double>& probabilities) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  probabilities.resize(logits.size());
  double total = 0;
  for (size_t c = 0; c < logits.size(); ++c) {
    probabilities[c] = FixedExp(logits[c] - largest);
    total += probabilities[c];
  }
  for (double& p : probabilities) p /= total;
}

AuxiliaryNetwork::AuxiliaryNetwork(const Network& network) {
  for (const LinearLayer& layer : network.auxiliary) {
    layers_.push_back({layer.num_outputs, layer.num_inputs, Transposed(layer)});
  }
}

void AuxiliaryNetwork::Evaluate(const float* description, std::vector<double>& scratch,
                                double* fat_row) const {
  size_t widest = layers_.front().num_inputs;
  for (const Layer& layer : layers_) widest = std::max(widest, layer.num_outputs);
  scratch.resize(2 * widest);
  double* in = scratch.data();
  double* out = in + widest;
  std::copy_n(description, layers_.front().num_inputs, in);
  for (size_t k = 0; k < layers_.size(); ++k) {
    const Layer& layer = layers_[k];
    double* to = k + 1 == layers_.size() ? fat_row : out;
    std::fill_n(to, layer.num_outputs, 0.0);
    AddProduct(in, layer.num_inputs, layer.weight.data(), layer.num_outputs, to);
    for (size_t o = 0; o < layer.num_outputs; ++o) to[o] = FixedTanh(to[o]);
    std::swap(in, out);
  }
}

}  // namespace tallele

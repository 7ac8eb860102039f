// A network from and to the state dict of upstream.
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "ancestry/model/network.h"

namespace tallele {
namespace {

class StateReader {
 public:
  StateReader(const Checkpoint& checkpoint, const std::string& where)
      : checkpoint_(checkpoint), where_(where) {
    const bool old = checkpoint.Find("disc_net.fat_bias") != nullptr;
    auxiliary_ = old ? "feat_emb." : "aux_net.";
    main_ = old ? "disc_net." : "main_net.";
  }

  Result<Network> Read() {
    Network network;
    if (checkpoint_.Find(main_ + "fat_bias") == nullptr) return NoDietNetwork();
    TALLELE_TRY(ReadAuxiliary(network));
    const size_t width = network.auxiliary.back().num_outputs;
    TALLELE_TRY(ReadVector(main_ + "fat_bias", width, network.fat_bias));
    TALLELE_TRY(ReadNorm(main_ + "bn_fatLayer.", width, network.fat_norm));
    TALLELE_TRY(ReadHidden(network));
    TALLELE_TRY(ReadLinear(main_ + "out.", true, network.output));
    const size_t last = network.hidden.empty() ? width : network.hidden.back().num_outputs;
    if (network.output.num_inputs != last) {
      return Fail("the output layer does not fit the layer before it",
                  fmt::format("{} inputs", network.output.num_inputs), fmt::format("{}", last));
    }
    for (const NamedTensor& named : checkpoint_.state) {
      if (!used_.contains(named.name)) {
        return Fail("the state dict has an entry that a Diet Network does not have", named.name);
      }
    }
    return network;
  }

 private:
  Error Fail(std::string what, std::string found = {}, std::string expected = {}) const {
    Error error = InputError(std::move(what), where_);
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }

  Error NoDietNetwork() const {
    Error error = Fail("the state dict is not of a Diet Network",
                       checkpoint_.state.empty() ? "no entries" : checkpoint_.state.front().name,
                       "aux_net.hidden_layers.0.weight, main_net.fat_bias ...");
    error.advice = "Plain networks without auxiliary network cannot be imported.";
    return error;
  }

  Result<const Tensor*> Take(const std::string& name, size_t dimensions) {
    const Tensor* tensor = checkpoint_.Find(name);
    if (tensor == nullptr) return Fail("the state dict lacks an entry", {}, name);
    if (!used_.insert(name).second) return Fail("the state dict has an entry twice", name);
    if (tensor->is_integer || tensor->shape.size() != dimensions || tensor->num_elements() == 0) {
      return Fail(fmt::format("entry {} has an unexpected type or shape", name));
    }
    for (const float value : tensor->floats) {
      if (!std::isfinite(value)) {
        Error error = Fail(fmt::format("entry {} holds a value that is not finite", name));
        error.advice = "The training of this model has failed.";
        return error;
      }
    }
    return tensor;
  }

  Result<void> ReadVector(const std::string& name, size_t length, std::vector<float>& out) {
    TALLELE_ASSIGN(const Tensor* const tensor, Take(name, 1));
    if (tensor->floats.size() != length) {
      return Fail(fmt::format("entry {} has another length than its layer", name),
                  fmt::format("{}", tensor->floats.size()), fmt::format("{}", length));
    }
    out = tensor->floats;
    return {};
  }

  Result<void> ReadLinear(const std::string& prefix, bool with_bias, LinearLayer& layer) {
    TALLELE_ASSIGN(const Tensor* const weight, Take(prefix + "weight", 2));
    layer.num_outputs = static_cast<size_t>(weight->shape[0]);
    layer.num_inputs = static_cast<size_t>(weight->shape[1]);
    layer.weight = weight->floats;
    return with_bias ? ReadVector(prefix + "bias", layer.num_outputs, layer.bias) : Result<void>();
  }

  Result<void> ReadNorm(const std::string& prefix, size_t width, BatchNorm& norm) {
    TALLELE_TRY(ReadVector(prefix + "weight", width, norm.weight));
    TALLELE_TRY(ReadVector(prefix + "bias", width, norm.bias));
    TALLELE_TRY(ReadVector(prefix + "running_mean", width, norm.mean));
    TALLELE_TRY(ReadVector(prefix + "running_var", width, norm.variance));
    for (const float variance : norm.variance) {
      if (variance < 0) return Fail("a running variance is negative", prefix + "running_var");
    }
    const std::string counter = prefix + "num_batches_tracked";
    if (const Tensor* batches = checkpoint_.Find(counter)) {
      used_.insert(counter);
      if (!batches->is_integer || batches->integers.size() != 1) {
        return Fail(fmt::format("entry {} has an unexpected type or shape", counter));
      }
      norm.num_batches = batches->integers.front();
    }
    return {};
  }

  Result<void> ReadAuxiliary(Network& network) {
    for (size_t i = 0;; ++i) {
      const std::string prefix = fmt::format("{}hidden_layers.{}.", auxiliary_, i);
      if (i > 0 && checkpoint_.Find(prefix + "weight") == nullptr) return {};
      LinearLayer layer;
      TALLELE_TRY(ReadLinear(prefix, false, layer));
      if (i > 0 && layer.num_inputs != network.auxiliary.back().num_outputs) {
        return Fail("an auxiliary layer does not fit the one before it", prefix + "weight");
      }
      network.auxiliary.push_back(std::move(layer));
    }
  }

  Result<void> ReadHidden(Network& network) {
    for (size_t i = 0;; ++i) {
      const std::string prefix = fmt::format("{}hidden_layers.{}.", main_, i);
      if (checkpoint_.Find(prefix + "weight") == nullptr) return {};
      LinearLayer layer;
      TALLELE_TRY(ReadLinear(prefix, true, layer));
      const size_t before = i == 0 ? network.fat_width() : network.hidden.back().num_outputs;
      if (layer.num_inputs != before) {
        return Fail("a hidden layer does not fit the one before it", prefix + "weight");
      }
      BatchNorm norm;
      TALLELE_TRY(ReadNorm(fmt::format("{}bn.{}.", main_, i), layer.num_outputs, norm));
      network.hidden.push_back(std::move(layer));
      network.norms.push_back(std::move(norm));
    }
  }

  const Checkpoint& checkpoint_;
  const std::string& where_;
  std::string auxiliary_, main_;
  std::set<std::string> used_;
};

class StateWriter {
 public:
  std::vector<NamedTensor> Write(const Network& network) {
    for (size_t i = 0; i < network.auxiliary.size(); ++i) {
      PutLinear(fmt::format("aux_net.hidden_layers.{}.", i), network.auxiliary[i]);
    }
    PutVector("main_net.fat_bias", network.fat_bias);
    PutNorm("main_net.bn_fatLayer.", network.fat_norm);
    PutLinear("main_net.out.", network.output);
    for (size_t i = 0; i < network.hidden.size(); ++i) {
      PutLinear(fmt::format("main_net.hidden_layers.{}.", i), network.hidden[i]);
    }
    for (size_t i = 0; i < network.norms.size(); ++i) {
      PutNorm(fmt::format("main_net.bn.{}.", i), network.norms[i]);
    }
    return std::move(state_);
  }

 private:
  void PutVector(std::string name, const std::vector<float>& values) {
    state_.push_back({std::move(name), {{static_cast<int64_t>(values.size())}, false, values, {}}});
  }
  void PutLinear(const std::string& prefix, const LinearLayer& layer) {
    Tensor weight;
    weight.shape = {static_cast<int64_t>(layer.num_outputs),
                    static_cast<int64_t>(layer.num_inputs)};
    weight.floats = layer.weight;
    state_.push_back({prefix + "weight", std::move(weight)});
    if (!layer.bias.empty()) PutVector(prefix + "bias", layer.bias);
  }
  void PutNorm(const std::string& prefix, const BatchNorm& norm) {
    PutVector(prefix + "weight", norm.weight);
    PutVector(prefix + "bias", norm.bias);
    PutVector(prefix + "running_mean", norm.mean);
    PutVector(prefix + "running_var", norm.variance);
    Tensor batches;
    batches.is_integer = true;
    batches.integers = {norm.num_batches};
    state_.push_back({prefix + "num_batches_tracked", std::move(batches)});
  }

  std::vector<NamedTensor> state_;
};

}  // namespace

Result<Network> NetworkFromState(const Checkpoint& checkpoint, const std::string& where) {
  return StateReader(checkpoint, where).Read();
}

std::vector<NamedTensor> StateFromNetwork(const Network& network) {
  return StateWriter().Write(network);
}

}  // namespace tallele

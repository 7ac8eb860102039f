#include "ancestry/train/parameters.h"

#include <cmath>

#include <fmt/format.h>

namespace tallele {
namespace {

constexpr size_t kNoIndex = ~size_t{0};

template <typename AnyParameters>
auto AuxiliaryTablesOf(AnyParameters& p) {
  std::vector<decltype(&p.fat_bias)> tables;
  for (auto& table : p.auxiliary) tables.push_back(&table);
  return tables;
}

template <typename AnyParameters>
auto MainTablesOf(AnyParameters& p) {
  std::vector<decltype(&p.fat_bias)> tables;
  if (!p.fat_weight.empty()) tables.push_back(&p.fat_weight);
  tables.push_back(&p.fat_bias);
  for (auto& norm : p.norms) {
    tables.push_back(&norm.weight);
    tables.push_back(&norm.bias);
  }
  for (auto& layer : p.hidden) {
    tables.push_back(&layer.weight);
    tables.push_back(&layer.bias);
  }
  tables.push_back(&p.output.weight);
  tables.push_back(&p.output.bias);
  return tables;
}

LinearParameters ZeroLinear(size_t inputs, size_t outputs) {
  return {FloatTable(inputs, outputs), FloatTable(1, outputs)};
}

// Draws in the order of the untransposed matrix (output by output).
void FillUniform(FloatTable& transposed, float limit, TorchRandom& random) {
  for (size_t out = 0; out < transposed.columns(); ++out) {
    for (size_t in = 0; in < transposed.rows(); ++in) {
      transposed.at(in, out) = random.NextUniform(-limit, limit);
    }
  }
}

void FillXavier(FloatTable& transposed, TorchRandom& random) {
  const double sum = static_cast<double>(transposed.rows() + transposed.columns());
  FillUniform(transposed, static_cast<float>(std::sqrt(6.0 / sum)), random);
}

// The library's own start of a layer, which is overwritten.
void SkipDefaults(const FloatTable& transposed, bool with_bias, TorchRandom& random) {
  random.Discard(transposed.rows() * transposed.columns());
  if (with_bias) random.Discard(transposed.columns());
}

LinearLayer ToLayer(const FloatTable& transposed) {
  LinearLayer layer;
  layer.num_inputs = transposed.rows();
  layer.num_outputs = transposed.columns();
  layer.weight.resize(layer.num_inputs * layer.num_outputs);
  for (size_t out = 0; out < layer.num_outputs; ++out) {
    for (size_t in = 0; in < layer.num_inputs; ++in) {
      layer.weight[out * layer.num_inputs + in] = transposed.at(in, out);
    }
  }
  return layer;
}

FloatTable FromLayer(const LinearLayer& layer) {
  FloatTable transposed(layer.num_inputs, layer.num_outputs);
  for (size_t out = 0; out < layer.num_outputs; ++out) {
    for (size_t in = 0; in < layer.num_inputs; ++in) {
      transposed.at(in, out) = layer.weight[out * layer.num_inputs + in];
    }
  }
  return transposed;
}

std::vector<float> ToVector(const FloatTable& table) {
  return {table.row(0), table.row(0) + table.columns()};
}

FloatTable FromVector(const std::vector<float>& values) {
  FloatTable table(1, values.size());
  std::copy(values.begin(), values.end(), table.row(0));
  return table;
}

BatchNorm ToBatchNorm(const NormParameters& norm, const RunningNorm& running) {
  BatchNorm out;
  out.weight = ToVector(norm.weight);
  out.bias = ToVector(norm.bias);
  out.mean.assign(running.mean.begin(), running.mean.end());
  out.variance.assign(running.variance.begin(), running.variance.end());
  out.num_batches = running.num_batches;
  return out;
}

void AddNorm(const BatchNorm& norm, ModelState& state) {
  state.parameters.norms.push_back({FromVector(norm.weight), FromVector(norm.bias)});
  state.running.push_back({FloatVector(norm.mean.begin(), norm.mean.end()),
                           FloatVector(norm.variance.begin(), norm.variance.end()),
                           norm.num_batches});
}

}  // namespace

Parameters Parameters::Zeros(const NetworkShape& shape) {
  Parameters zeros;
  size_t inputs = shape.embedding_width;
  for (const size_t width : shape.auxiliary) {
    zeros.auxiliary.emplace_back(inputs, width);
    inputs = width;
  }
  if (shape.is_plain()) zeros.fat_weight.Resize(shape.num_snps, shape.fat_width());
  zeros.fat_bias.Resize(1, shape.fat_width());
  for (size_t l = 0; l < shape.main.size(); ++l) {
    zeros.norms.push_back({FloatTable(1, shape.main[l]), FloatTable(1, shape.main[l])});
    if (l > 0) zeros.hidden.push_back(ZeroLinear(shape.main[l - 1], shape.main[l]));
  }
  zeros.output = ZeroLinear(shape.main.back(), shape.num_outputs);
  return zeros;
}

std::vector<FloatTable*> Parameters::AuxiliaryTables() { return AuxiliaryTablesOf(*this); }
std::vector<FloatTable*> Parameters::MainTables() { return MainTablesOf(*this); }

std::vector<const FloatTable*> Parameters::AllTables() const {
  auto tables = AuxiliaryTablesOf(*this);
  for (const FloatTable* table : MainTablesOf(*this)) tables.push_back(table);
  return tables;
}

std::vector<std::string> Parameters::TableNames() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& layer, size_t index, bool has_bias = true) {
    const std::string stem = index == kNoIndex ? layer : fmt::format("{}.{}", layer, index);
    names.push_back(stem + ".weight");
    if (has_bias) names.push_back(stem + ".bias");
  };
  for (size_t l = 0; l < auxiliary.size(); ++l) add("aux_net.hidden_layers", l, false);
  const bool plain = !fat_weight.empty();
  const std::string prefix = plain ? "" : "main_net.";
  if (plain) {
    add("hidden_layers", 0);
  } else {
    names.push_back("main_net.fat_bias");
  }
  for (size_t l = 0; l < norms.size(); ++l) {
    if (l == 0 && !plain) {
      add("main_net.bn_fatLayer", kNoIndex);
    } else {
      add(prefix + "bn", plain ? l : l - 1);
    }
  }
  for (size_t l = 0; l < hidden.size(); ++l) add(prefix + "hidden_layers", plain ? l + 1 : l);
  add(prefix + "out", kNoIndex);
  return names;
}

void Parameters::SetZero() {
  for (FloatTable* table : AuxiliaryTables()) table->SetZero();
  for (FloatTable* table : MainTables()) table->SetZero();
}

NetworkShape ShapeOf(const TrainConfig& config, size_t num_snps, size_t num_classes,
                     size_t num_outputs, bool plain) {
  NetworkShape shape;
  shape.num_snps = num_snps;
  shape.num_outputs = num_outputs;
  if (plain) {
    shape.main = config.nb_hidden_u_main;
  } else {
    shape.embedding_width = 3 * num_classes;
    shape.auxiliary = config.nb_hidden_u_aux;
    shape.main = {config.nb_hidden_u_aux.back()};
    shape.main.insert(shape.main.end(), config.nb_hidden_u_main.begin(),
                      config.nb_hidden_u_main.end());
  }
  return shape;
}

ModelState InitialState(const NetworkShape& shape, double uniform_init_limit, TorchRandom& random) {
  ModelState state;
  Parameters& p = state.parameters = Parameters::Zeros(shape);
  for (FloatTable& table : p.auxiliary) {
    SkipDefaults(table, false, random);
    FillUniform(table, static_cast<float>(uniform_init_limit), random);
  }
  if (shape.is_plain()) {
    SkipDefaults(p.fat_weight, true, random);
    FillXavier(p.fat_weight, random);
  }
  for (LinearParameters& layer : p.hidden) {
    SkipDefaults(layer.weight, true, random);
    FillXavier(layer.weight, random);
  }
  SkipDefaults(p.output.weight, true, random);
  FillXavier(p.output.weight, random);
  if (!shape.is_plain()) random.Discard(shape.fat_width());  // the fat bias, then set to zero
  for (size_t l = 0; l < shape.main.size(); ++l) {
    const size_t width = shape.main[l];
    for (size_t i = 0; i < width; ++i) p.norms[l].weight.at(0, i) = 1.0f;
    state.running.push_back({FloatVector(width, 0.0f), FloatVector(width, 1.0f), 0});
  }
  return state;
}

Network ToNetwork(const ModelState& state) {
  const Parameters& p = state.parameters;
  Network network;
  for (const FloatTable& table : p.auxiliary) network.auxiliary.push_back(ToLayer(table));
  network.fat_bias = ToVector(p.fat_bias);
  network.fat_norm = ToBatchNorm(p.norms[0], state.running[0]);
  for (size_t l = 0; l < p.hidden.size(); ++l) {
    network.hidden.push_back(ToLayer(p.hidden[l].weight));
    network.hidden.back().bias = ToVector(p.hidden[l].bias);
    network.norms.push_back(ToBatchNorm(p.norms[l + 1], state.running[l + 1]));
  }
  network.output = ToLayer(p.output.weight);
  network.output.bias = ToVector(p.output.bias);
  return network;
}

ModelState FromNetwork(const Network& network) {
  ModelState state;
  Parameters& p = state.parameters;
  for (const LinearLayer& layer : network.auxiliary) p.auxiliary.push_back(FromLayer(layer));
  p.fat_bias = FromVector(network.fat_bias);
  AddNorm(network.fat_norm, state);
  for (size_t l = 0; l < network.hidden.size(); ++l) {
    p.hidden.push_back({FromLayer(network.hidden[l]), FromVector(network.hidden[l].bias)});
    AddNorm(network.norms[l], state);
  }
  p.output = {FromLayer(network.output), FromVector(network.output.bias)};
  return state;
}

}  // namespace tallele

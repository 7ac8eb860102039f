#ifndef TALLELE_ANCESTRY_TRAIN_PARAMETERS_H_
#define TALLELE_ANCESTRY_TRAIN_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ancestry/model/network.h"
#include "ancestry/train/float_table.h"
#include "ancestry/train/torch_random.h"
#include "ancestry/train/train_config.h"

namespace tallele {

// Widths of a network in training. Without auxiliary layers it is the plain baseline (MLP), whose
// fat layer has weights of its own.
struct NetworkShape {
  size_t num_snps = 0;
  size_t embedding_width = 0;
  std::vector<size_t> auxiliary;  // the last one is the fat layer's
  std::vector<size_t> main;       // the fat layer first
  size_t num_outputs = 0;         // classes, or 1 in a regression

  bool is_plain() const { return auxiliary.empty(); }
  size_t fat_width() const { return main.front(); }
};

// A layer's weights, transposed (inputs x outputs), and its biases (one row).
struct LinearParameters {
  FloatTable weight;
  FloatTable bias;
};
struct NormParameters {
  FloatTable weight;
  FloatTable bias;
};

// What the optimisers move: also the shape of gradients and of Adam's moments.
struct Parameters {
  std::vector<FloatTable> auxiliary;  // transposed, no biases
  FloatTable fat_weight;              // SNPs x width; plain networks only
  FloatTable fat_bias;
  std::vector<NormParameters> norms;  // behind the fat layer, then behind each hidden layer
  std::vector<LinearParameters> hidden;
  LinearParameters output;

  static Parameters Zeros(const NetworkShape& shape);
  // The tables of each of the two optimisers, in a fixed order.
  std::vector<FloatTable*> AuxiliaryTables();
  std::vector<FloatTable*> MainTables();
  std::vector<const FloatTable*> AllTables() const;
  // Upstream's names of AllTables().
  std::vector<std::string> TableNames() const;
  void SetZero();
};

// Running statistics of a batch norm.
struct RunningNorm {
  FloatVector mean;
  FloatVector variance;
  int64_t num_batches = 0;
};

// A network in training.
struct ModelState {
  Parameters parameters;
  std::vector<RunningNorm> running;  // one per norm
};

NetworkShape ShapeOf(const TrainConfig& config, size_t num_snps, size_t num_classes,
                     size_t num_outputs, bool plain);

// The weights that upstream starts from, drawn from `random` in its order (PyTorch 1.13):
// auxiliary layers uniform in +-uniform_init_limit, the others Xavier uniform with zero biases;
// the defaults that upstream overwrites are drawn and dropped.
ModelState InitialState(const NetworkShape& shape, double uniform_init_limit, TorchRandom& random);

// The inference form; not for plain networks.
Network ToNetwork(const ModelState& state);
ModelState FromNetwork(const Network& network);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_PARAMETERS_H_

#ifndef TALLELE_ANCESTRY_MODEL_NETWORK_H_
#define TALLELE_ANCESTRY_MODEL_NETWORK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "ancestry/model/checkpoint.h"
#include "base/result.h"

namespace tallele {

// y = W x + b. `weight` is row-major, outputs x inputs; `bias` may be empty.
struct LinearLayer {
  size_t num_outputs = 0;
  size_t num_inputs = 0;
  std::vector<float> weight;
  std::vector<float> bias;
};

// (x - mean) / sqrt(variance + 1e-5) * weight + bias, with the running statistics of training.
struct BatchNorm {
  std::vector<float> weight, bias, mean, variance;
  int64_t num_batches = 0;
};

// The parameters of a Diet Network classifier (docs/formats/package.md, "Network"):
//   G = tanh(W2 tanh(W1 e)) for the description e of each SNP       (auxiliary, no biases)
//   h1 = BN1(relu(x G + fat_bias)), then Linear, relu, BN for each hidden layer
//   logits = output(h)
struct Network {
  std::vector<LinearLayer> auxiliary;
  std::vector<float> fat_bias;
  BatchNorm fat_norm;
  std::vector<LinearLayer> hidden;
  std::vector<BatchNorm> norms;  // one per hidden layer
  LinearLayer output;

  size_t embedding_width() const { return auxiliary.front().num_inputs; }
  size_t fat_width() const { return fat_bias.size(); }
  size_t last_width() const { return output.num_inputs; }
  size_t num_classes() const { return output.num_outputs; }
};

// From the state dict of upstream, with today's prefixes or the older `feat_emb.` and `disc_net.`.
// Missing, surplus or misshapen entries, and values that are not finite, are errors that name the
// entry. `where` names the file.
Result<Network> NetworkFromState(const Checkpoint& checkpoint, const std::string& where);

// The state dict in upstream's names and order.
std::vector<NamedTensor> StateFromNetwork(const Network& network);

// The layers behind the fat layer, ready for repeated use. All arithmetic is in double, in a fixed
// order: the same bits on every machine and for any grouping of people.
class NetworkTail {
 public:
  explicit NetworkTail(const Network& network);

  struct Output {
    std::vector<double> hidden;         // input of the output layer
    std::vector<double> logits;         // one per class
    std::vector<double> probabilities;  // softmax of logits
  };

  // `z1`: the fat layer's sums for one person, bias not yet added.
  void Evaluate(const double* z1, Output& output) const;

  size_t fat_width() const { return fat_bias_.size(); }
  size_t num_classes() const { return output_.num_outputs; }

 private:
  struct Layer {
    size_t num_outputs = 0;
    size_t num_inputs = 0;
    std::vector<double> weight;  // transposed: inputs x outputs
    std::vector<double> bias;
  };
  struct Affine {  // a batch norm in the form x * factor + shift
    std::vector<double> factor, shift;
  };

  static Layer Widen(const LinearLayer& layer);
  static Affine Fold(const BatchNorm& norm);
  static void Apply(const Layer& layer, const std::vector<double>& in, std::vector<double>& out);
  static void RectifyAndNormalise(const Affine& norm, std::vector<double>& x);

  std::vector<double> fat_bias_;
  Affine fat_norm_;
  std::vector<Layer> hidden_;
  std::vector<Affine> norms_;
  Layer output_;
};

// Turns logits into probabilities: exp(l - max) over their sum, in a fixed order.
void Softmax(const std::vector<double>& logits, std::vector<double>& probabilities);

// The auxiliary network, which makes the fat layer's row of one SNP.
class AuxiliaryNetwork {
 public:
  explicit AuxiliaryNetwork(const Network& network);

  // `description`: the SNP's normalised embedding; `fat_row` gets fat_width() values. `scratch` is
  // working memory.
  void Evaluate(const float* description, std::vector<double>& scratch, double* fat_row) const;

 private:
  struct Layer {
    size_t num_outputs = 0;
    size_t num_inputs = 0;
    std::vector<double> weight;  // inputs x outputs
  };
  std::vector<Layer> layers_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_NETWORK_H_

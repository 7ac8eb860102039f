#ifndef TALLELE_ANCESTRY_MODEL_ENSEMBLE_H_
#define TALLELE_ANCESTRY_MODEL_ENSEMBLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ancestry/model/network.h"
#include "ancestry/model/package.h"
#include "base/cancel_token.h"
#include "base/result.h"
#include "kernels/packed_products.h"

namespace tallele {

struct EnsembleOptions {
  CpuTarget target = CpuTarget::kScalar;
  // Factor on the inputs for absent SNPs; unset: model SNPs over matched SNPs, without those that
  // did not vary in training.
  std::optional<double> scale;
  // Keeps SNPs that did not vary in training, as upstream does, by a float64 path of their own.
  bool faithful = false;
  const CancelToken* cancel = nullptr;
};

// What a block of people got. Person-major, then model, then class or unit.
struct EnsembleBlock {
  size_t num_people = 0;
  std::vector<double> probabilities;
  std::vector<double> logits;
  std::vector<double> hidden;  // input of the output layer; empty unless asked for
};

// Every model of a list at once over 2-bit rows of the matched SNPs.
//
// The fat layers of all models are one exact integer product: A = G / sd is quantised per column
// to q = rint(A / max|A| * 8,355,711), and with the fold's means
//   z = s * scale * (sum over observed SNPs of x q - rint(mu q)) + b,
// so missing calls and absent SNPs contribute nothing. What follows is double arithmetic in a
// fixed order. The same bits for any number of people at once, threads and instruction sets.
class Ensemble {
 public:
  // `model_snps`: the model's SNP of each column of the rows, ascending. Uses all threads that the
  // caller's TBB arena has.
  static Result<Ensemble> Create(const std::vector<ModelPackage>& packages,
                                 std::span<const uint32_t> model_snps,
                                 const EnsembleOptions& options);

  size_t num_models() const { return models_.size(); }
  size_t num_classes() const { return num_classes_; }
  size_t hidden_width(size_t model) const { return models_[model].last_width; }
  size_t total_hidden_width() const { return total_hidden_width_; }
  // The factor used for a model's inputs.
  double scale(size_t model) const { return models_[model].input_scale; }
  // Matched SNPs that a model leaves out because they did not vary in training.
  size_t num_left_out(size_t model) const { return models_[model].num_left_out; }
  size_t MemoryBytes() const { return columns_->MemoryBytes(); }

  struct Workspace {
    PackedScratch scratch;
    std::vector<int64_t> sums;
    std::vector<double> z;
    NetworkTail::Output output;
  };

  // Rows must have the SNPs of `model_snps`.
  void Evaluate(const PackedRows& rows, bool keep_hidden, Workspace& workspace,
                EnsembleBlock& block) const;

 private:
  struct Model {
    explicit Model(const Network& network) : tail(network) {}

    size_t first_column = 0;  // of all columns
    size_t group = 0;
    size_t last_width = 0;
    size_t num_left_out = 0;
    double input_scale = 1;
    std::vector<double> column_scales;
    std::vector<double> constants;  // added to the sums' products: models without normalisation
    NetworkTail tail;
    // --faithful: SNPs that did not vary in training, by column of the rows.
    std::vector<uint32_t> constant_snps;
    std::vector<double> constant_means;
    std::vector<double> constant_weights;  // [snp][fat width]
  };
  class Builder;

  Ensemble() = default;
  void AddConstantSnps(const Model& model, const uint8_t* row, double* z) const;

  CpuTarget target_ = CpuTarget::kScalar;
  size_t num_classes_ = 0;
  size_t total_hidden_width_ = 0;
  std::vector<Model> models_;
  std::unique_ptr<PackedColumns> columns_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_ENSEMBLE_H_

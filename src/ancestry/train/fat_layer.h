#ifndef TALLELE_ANCESTRY_TRAIN_FAT_LAYER_H_
#define TALLELE_ANCESTRY_TRAIN_FAT_LAYER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ancestry/train/batch_inputs.h"
#include "ancestry/train/parameters.h"
#include "base/aligned_buffer.h"
#include "kernels/cpu_target.h"

namespace tallele {

// The fat layer of a network in training, whose weights the auxiliary network makes from each
// SNP's description:  A_1 = tanh(E W_1), ..., G = A_L = tanh(A_(L-1) W_L),  sums = X G.
//
// SNPs are taken in tiles of 128, and tiles in chunks of 2,048, or of 8,192 where a batch has more
// than 256 people, whose sums a chunk keeps. Sums over SNPs are added up within a chunk, then chunk
// by chunk, so the bits do not depend on the number of threads (TBB's current arena). SNPs that no
// one in the batch keeps are left out: their part of every gradient is zero. Memory: (width of all
// auxiliary layers) floats for each SNP that counts, and a set of gradients and (dense) sums a
// chunk.
class FatLayer {
 public:
  // `descriptions`: SNP-major, shape.embedding_width a SNP (FoldInputs::Descriptions); kept by
  // reference; empty for a plain network.
  FatLayer(const NetworkShape& shape, std::span<const float> descriptions, CpuTarget target);

  // Sums of a batch (people x fat width), and what Backward needs.
  void Forward(const Parameters& parameters, const SparseInputs& inputs, size_t num_people,
               FloatTable& sums);
  void Forward(const Parameters& parameters, const DenseInputs& inputs, const InputTables& tables,
               FloatTable& sums);

  // After Forward with the same arguments: sets the gradients of the auxiliary layers (of a plain
  // network: of the fat weights) from that of the sums.
  void Backward(const Parameters& parameters, const SparseInputs& inputs,
                const FloatTable& sums_gradient, Parameters& gradients);
  void Backward(const Parameters& parameters, const DenseInputs& inputs, const InputTables& tables,
                const FloatTable& sums_gradient, Parameters& gradients);

  // For evaluation: makes the fat weights of every SNP once ...
  void PrepareEvaluation(const Parameters& parameters);
  // ... then the sums of any rows; thread-safe, same bits for any grouping of people.
  void EvaluateSums(const Parameters& parameters, std::span<const uint8_t* const> rows,
                    const InputTables& tables, FloatTable& sums) const;

 private:
  struct Tile {
    size_t begin;  // place in the list of SNPs that count
    size_t size;
  };
  struct ChunkResult {
    std::vector<FloatTable> auxiliary;
    FloatTable sums;
  };

  size_t NumChunks() const;
  template <typename Body>
  void ForEachChunk(const Body& body);
  template <typename Body>
  static void ForEachTile(size_t begin, size_t end, const Body& body);
  uint32_t SnpAt(size_t place) const;
  float* Activations(size_t layer, size_t place);
  const float* Activations(size_t layer, size_t place) const;
  // The tile's rows of the last activations (or of the plain network's weights).
  const float* FatRows(const Parameters& parameters, const Tile& tile) const;
  void BeginSnps(size_t count, const uint32_t* snps, size_t num_people);
  void MakeWeights(const Parameters& parameters, const Tile& tile);
  LeftOperand Inputs(size_t layer, const Tile& tile, FloatVector& scratch) const;
  // Room for gradients of a tile's activations.
  struct TileScratch {
    FloatVector d, next, inputs;
  };
  void AuxiliaryBackward(const Parameters& parameters, const std::vector<FloatTable>& transposed,
                         const Tile& tile, TileScratch& scratch,
                         std::vector<FloatTable>& gradients);
  template <typename FillGradient>
  void Backward(const Parameters& parameters, const FillGradient& fill, Parameters& gradients);

  NetworkShape shape_;
  std::span<const float> descriptions_;
  CpuTarget target_;
  size_t num_places_ = 0;
  size_t chunk_snps_ = 1;
  const uint32_t* snps_ = nullptr;  // null: all SNPs
  std::vector<size_t> strides_;     // of each auxiliary layer's activations
  std::vector<AlignedBuffer> activations_;
  std::vector<ChunkResult> chunks_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_FAT_LAYER_H_

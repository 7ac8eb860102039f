#include "ancestry/train/fat_layer.h"

#include <algorithm>
#include <cstring>

#include <tbb/parallel_for.h>

namespace tallele {
namespace {

constexpr size_t kTileSnps = 128;
constexpr size_t kChunkSnps = 2048;
constexpr size_t kChunkSnpsOfManyPeople = 8192;
constexpr size_t kManyPeople = 256;
constexpr size_t kPeopleAtOnce = 64;

// Rows of descriptions that are asked for ahead of the one that is copied.
constexpr size_t kPrefetchedSnps = 8;

void Prefetch(const float* row, size_t width) {
  constexpr size_t kLine = 64 / sizeof(float);
  for (size_t i = 0; i < width; i += kLine) __builtin_prefetch(row + i);
}

// Values of a tile's SNPs for some people, kTileSnps a person.
class UnpackedTile {
 public:
  UnpackedTile() : values_(kPeopleAtOnce * kTileSnps) {}

  void Fill(CpuTarget target, std::span<const uint8_t* const> rows, size_t first, size_t size,
            const InputTables& tables) {
    for (size_t p = 0; p < rows.size(); ++p) {
      UnpackValues(target, rows[p], first, size, tables.values(), values_.data() + p * kTileSnps);
    }
  }
  const float* data() const { return values_.data(); }

 private:
  FloatVector values_;
};

void AddTable(const FloatTable& from, FloatTable& to) {
  const std::span<const float> values = from.all();
  const std::span<float> sums = to.all();
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

}  // namespace

FatLayer::FatLayer(const NetworkShape& shape, std::span<const float> descriptions, CpuTarget target)
    : shape_(shape), descriptions_(descriptions), target_(target) {
  for (const size_t width : shape.auxiliary) strides_.push_back(PaddedFloats(width));
  activations_.resize(strides_.size());
}

size_t FatLayer::NumChunks() const { return (num_places_ + chunk_snps_ - 1) / chunk_snps_; }

uint32_t FatLayer::SnpAt(size_t place) const {
  return snps_ == nullptr ? static_cast<uint32_t>(place) : snps_[place];
}

float* FatLayer::Activations(size_t layer, size_t place) {
  return reinterpret_cast<float*>(activations_[layer].data()) + place * strides_[layer];
}

const float* FatLayer::Activations(size_t layer, size_t place) const {
  return reinterpret_cast<const float*>(activations_[layer].data()) + place * strides_[layer];
}

template <typename Body>
void FatLayer::ForEachChunk(const Body& body) {
  tbb::parallel_for(size_t{0}, NumChunks(), [&](size_t chunk) {
    body(chunk, chunk * chunk_snps_, std::min(num_places_, (chunk + 1) * chunk_snps_));
  });
}

template <typename Body>
void FatLayer::ForEachTile(size_t begin, size_t end, const Body& body) {
  for (size_t first = begin; first < end; first += kTileSnps) {
    body(Tile{first, std::min(kTileSnps, end - first)});
  }
}

void FatLayer::BeginSnps(size_t count, const uint32_t* snps, size_t num_people) {
  chunk_snps_ = num_people > kManyPeople ? kChunkSnpsOfManyPeople : kChunkSnps;
  num_places_ = count;
  snps_ = snps;
  for (size_t l = 0; l < strides_.size(); ++l) {
    // For all SNPs, once: their number varies from batch to batch, and pages that none touches
    // cost nothing.
    activations_[l].Resize(shape_.num_snps * strides_[l] * sizeof(float));
  }
  chunks_.resize(NumChunks());
}

// The inputs of an auxiliary layer for a tile: activations, or descriptions, copied to `scratch`
// when the SNPs that count do not lie side by side.
LeftOperand FatLayer::Inputs(size_t layer, const Tile& tile, FloatVector& scratch) const {
  if (layer > 0) return {Activations(layer - 1, tile.begin), strides_[layer - 1], 1};
  const size_t width = shape_.embedding_width;
  if (snps_ == nullptr) return {descriptions_.data() + tile.begin * width, width, 1};
  scratch.resize(kTileSnps * width);
  for (size_t i = 0; i < tile.size; ++i) {
    if (i + kPrefetchedSnps < tile.size) {
      Prefetch(descriptions_.data() + SnpAt(tile.begin + i + kPrefetchedSnps) * width, width);
    }
    std::memcpy(scratch.data() + i * width, descriptions_.data() + SnpAt(tile.begin + i) * width,
                width * sizeof(float));
  }
  return {scratch.data(), width, 1};
}

void FatLayer::MakeWeights(const Parameters& parameters, const Tile& tile) {
  FloatVector scratch;
  for (size_t l = 0; l < strides_.size(); ++l) {
    const FloatTable& weight = parameters.auxiliary[l];
    FloatProduct p{};
    p.left = Inputs(l, tile, scratch);
    p.right = weight.row(0);
    p.right_stride = weight.stride();
    p.out = Activations(l, tile.begin);
    p.out_stride = strides_[l];
    p.rows = tile.size;
    p.depth = weight.rows();
    p.columns = weight.stride();
    SetProduct(target_, p);
    TanhInPlace(target_, {p.out, tile.size * strides_[l]});
  }
}

const float* FatLayer::FatRows(const Parameters& parameters, const Tile& tile) const {
  return shape_.is_plain() ? parameters.fat_weight.row(tile.begin)
                           : Activations(strides_.size() - 1, tile.begin);
}

void FatLayer::Forward(const Parameters& parameters, const SparseInputs& inputs, size_t num_people,
                       FloatTable& sums) {
  BeginSnps(inputs.snps.size(), inputs.snps.data(), num_people);
  const size_t stride = PaddedFloats(shape_.fat_width());
  ForEachChunk([&](size_t chunk, size_t begin, size_t end) {
    FloatTable& partial = chunks_[chunk].sums;
    partial.Resize(num_people, shape_.fat_width());
    ForEachTile(begin, end, [&](const Tile& tile) {
      MakeWeights(parameters, tile);
      const auto add = [&](size_t place, size_t count, const float* weights) {
        AddTransposedSparseProduct(target_, {inputs.Rows(place, count), weights, stride,
                                             partial.row(0), partial.stride(), stride});
      };
      if (!shape_.is_plain()) return add(tile.begin, tile.size, FatRows(parameters, tile));
      for (size_t place = tile.begin; place < tile.begin + tile.size; ++place) {
        add(place, 1, parameters.fat_weight.row(SnpAt(place)));
      }
    });
  });
  sums.Resize(num_people, shape_.fat_width());
  for (const ChunkResult& chunk : chunks_) AddTable(chunk.sums, sums);
}

void FatLayer::Forward(const Parameters& parameters, const DenseInputs& inputs,
                       const InputTables& tables, FloatTable& sums) {
  BeginSnps(shape_.num_snps, nullptr, inputs.rows.size());
  const std::span<const uint8_t* const> rows = inputs.rows;
  ForEachChunk([&](size_t chunk, size_t begin, size_t end) {
    FloatTable& partial = chunks_[chunk].sums;
    partial.Resize(rows.size(), shape_.fat_width());
    UnpackedTile values;
    ForEachTile(begin, end, [&](const Tile& tile) {
      MakeWeights(parameters, tile);
      for (size_t first = 0; first < rows.size(); first += kPeopleAtOnce) {
        const auto people = rows.subspan(first, std::min(kPeopleAtOnce, rows.size() - first));
        values.Fill(target_, people, tile.begin, tile.size, tables);
        FloatProduct p{};
        p.left = {values.data(), kTileSnps, 1};
        p.right = FatRows(parameters, tile);
        p.right_stride = p.columns = partial.stride();
        p.out = partial.row(first);
        p.out_stride = partial.stride();
        p.rows = people.size();
        p.depth = tile.size;
        AddProduct(target_, p);
      }
    });
  });
  sums.Resize(rows.size(), shape_.fat_width());
  for (const ChunkResult& chunk : chunks_) AddTable(chunk.sums, sums);
}

// scratch.d: the gradient of the tile's fat weights; used up.
void FatLayer::AuxiliaryBackward(const Parameters& parameters,
                                 const std::vector<FloatTable>& transposed, const Tile& tile,
                                 TileScratch& scratch, std::vector<FloatTable>& gradients) {
  for (size_t l = strides_.size(); l-- > 0;) {
    const size_t stride = strides_[l];
    MultiplyByTanhSlope(target_, {Activations(l, tile.begin), tile.size * stride},
                        {scratch.d.data(), tile.size * stride});
    const LeftOperand inputs = Inputs(l, tile, scratch.inputs);
    FloatProduct p{};
    p.left = {inputs.data, inputs.depth_step, inputs.row_step};
    p.right = scratch.d.data();
    p.right_stride = p.columns = stride;
    p.out = gradients[l].row(0);
    p.out_stride = gradients[l].stride();
    p.rows = parameters.auxiliary[l].rows();
    p.depth = tile.size;
    AddProduct(target_, p);
    if (l == 0) break;
    FloatProduct q{};
    q.left = {scratch.d.data(), stride, 1};
    q.right = transposed[l].row(0);
    q.right_stride = q.columns = transposed[l].stride();
    q.out = scratch.next.data();
    q.out_stride = strides_[l - 1];
    q.rows = tile.size;
    q.depth = parameters.auxiliary[l].columns();
    SetProduct(target_, q);
    std::swap(scratch.d, scratch.next);
  }
}

// `fill(tile, d)` sets d, fat-layer strides apart, to the gradient of the tile's fat weights.
template <typename FillGradient>
void FatLayer::Backward(const Parameters& parameters, const FillGradient& fill,
                        Parameters& gradients) {
  std::vector<FloatTable> transposed;
  for (const FloatTable& weight : parameters.auxiliary) transposed.push_back(weight.Transposed());
  gradients.fat_weight.SetZero();
  ForEachChunk([&](size_t chunk, size_t begin, size_t end) {
    std::vector<FloatTable>& partial = chunks_[chunk].auxiliary;
    partial.resize(parameters.auxiliary.size());
    for (size_t l = 0; l < partial.size(); ++l) {
      partial[l].Resize(parameters.auxiliary[l].rows(), parameters.auxiliary[l].columns());
    }
    const size_t stride = PaddedFloats(shape_.fat_width());
    size_t widest = stride;
    for (const size_t other : strides_) widest = std::max(widest, other);
    TileScratch scratch{FloatVector(kTileSnps * widest), FloatVector(kTileSnps * widest), {}};
    ForEachTile(begin, end, [&](const Tile& tile) {
      fill(tile, scratch.d.data());
      if (!shape_.is_plain()) {
        return AuxiliaryBackward(parameters, transposed, tile, scratch, partial);
      }
      for (size_t i = 0; i < tile.size; ++i) {
        std::copy_n(scratch.d.data() + i * stride, stride,
                    gradients.fat_weight.row(SnpAt(tile.begin + i)));
      }
    });
  });
  for (size_t l = 0; l < gradients.auxiliary.size(); ++l) {
    gradients.auxiliary[l].SetZero();
    for (const ChunkResult& chunk : chunks_) AddTable(chunk.auxiliary[l], gradients.auxiliary[l]);
  }
}

void FatLayer::Backward(const Parameters& parameters, const SparseInputs& inputs,
                        const FloatTable& sums_gradient, Parameters& gradients) {
  const size_t stride = sums_gradient.stride();
  const auto fill = [&](const Tile& tile, float* d) {
    SetSparseProduct(target_, {inputs.Rows(tile.begin, tile.size), sums_gradient.row(0), stride, d,
                               stride, stride});
  };
  Backward(parameters, fill, gradients);
}

void FatLayer::Backward(const Parameters& parameters, const DenseInputs& inputs,
                        const InputTables& tables, const FloatTable& sums_gradient,
                        Parameters& gradients) {
  const std::span<const uint8_t* const> rows = inputs.rows;
  const auto fill = [&](const Tile& tile, float* d) {
    thread_local UnpackedTile values;
    for (size_t first = 0; first < rows.size(); first += kPeopleAtOnce) {
      const auto people = rows.subspan(first, std::min(kPeopleAtOnce, rows.size() - first));
      values.Fill(target_, people, tile.begin, tile.size, tables);
      FloatProduct p{};
      p.left = {values.data(), 1, kTileSnps};
      p.right = sums_gradient.row(first);
      p.right_stride = p.columns = sums_gradient.stride();
      p.out = d;
      p.out_stride = sums_gradient.stride();
      p.rows = tile.size;
      p.depth = people.size();
      first == 0 ? SetProduct(target_, p) : AddProduct(target_, p);
    }
  };
  Backward(parameters, fill, gradients);
}

void FatLayer::PrepareEvaluation(const Parameters& parameters) {
  BeginSnps(shape_.num_snps, nullptr, 0);
  ForEachChunk([&](size_t, size_t begin, size_t end) {
    ForEachTile(begin, end, [&](const Tile& tile) { MakeWeights(parameters, tile); });
  });
}

void FatLayer::EvaluateSums(const Parameters& parameters, std::span<const uint8_t* const> rows,
                            const InputTables& tables, FloatTable& sums) const {
  sums.Resize(rows.size(), shape_.fat_width());
  UnpackedTile values;
  for (size_t first = 0; first < rows.size(); first += kPeopleAtOnce) {
    const auto people = rows.subspan(first, std::min(kPeopleAtOnce, rows.size() - first));
    ForEachTile(0, shape_.num_snps, [&](const Tile& tile) {
      values.Fill(target_, people, tile.begin, tile.size, tables);
      FloatProduct p{};
      p.left = {values.data(), kTileSnps, 1};
      p.right = FatRows(parameters, tile);
      p.right_stride = p.columns = sums.stride();
      p.out = sums.row(first);
      p.out_stride = sums.stride();
      p.rows = people.size();
      p.depth = tile.size;
      AddProduct(target_, p);
    });
  }
}

}  // namespace tallele

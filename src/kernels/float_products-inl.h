// The float kernels over a vector type `Vector` with `Integers` beside it, and the functions
// FusedMultiplyAdd, Broadcast, Load and Store; included once by each instruction set's file.
// kRows x kVectors accumulators are kept in registers.

#include <algorithm>
#include <cstring>

#include "kernels/float_kernels.h"

namespace tallele::kernels {
namespace {

constexpr size_t kLanes = sizeof(Vector) / sizeof(float);

template <size_t kRows, size_t kVectors>
void MultiplyBlock(const FloatProduct& p, size_t i, size_t j, bool from_zero) {
  Vector sums[kRows][kVectors];
  float* out = p.out + i * p.out_stride + j;
  TALLELE_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = from_zero ? Vector{} : Load(out + r * p.out_stride + v * kLanes);
    }
  }
  // Without terms the operands may be null, which no offset may be added to.
  const float* left = p.depth == 0 ? nullptr : p.left.data + i * p.left.row_step;
  const float* right = p.depth == 0 ? nullptr : p.right + j;
  for (size_t k = 0; k < p.depth; ++k) {
    Vector columns[kVectors];
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) columns[v] = Load(right + v * kLanes);
    TALLELE_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const Vector x = Broadcast(left[r * p.left.row_step]);
      TALLELE_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = FusedMultiplyAdd(x, columns[v], sums[r][v]);
      }
    }
    left += p.left.depth_step;
    right += p.right_stride;
  }
  TALLELE_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) Store(out + r * p.out_stride + v * kLanes, sums[r][v]);
  }
}

// All rows of some columns.
template <size_t kVectors>
void MultiplyColumns(const FloatProduct& p, size_t j, bool from_zero) {
  size_t i = 0;
  for (; i + kRowsInRegisters <= p.rows; i += kRowsInRegisters) {
    MultiplyBlock<kRowsInRegisters, kVectors>(p, i, j, from_zero);
  }
  for (; i + 2 <= p.rows; i += 2) MultiplyBlock<2, kVectors>(p, i, j, from_zero);
  for (; i < p.rows; ++i) MultiplyBlock<1, kVectors>(p, i, j, from_zero);
}

template <size_t kVectors>
void MultiplyColumnsOf(size_t vectors, const FloatProduct& p, size_t j, bool from_zero) {
  if constexpr (kVectors == 1) {
    MultiplyColumns<1>(p, j, from_zero);
  } else if (vectors == kVectors) {
    MultiplyColumns<kVectors>(p, j, from_zero);
  } else {
    MultiplyColumnsOf<kVectors - 1>(vectors, p, j, from_zero);
  }
}

void MultiplyDepth(const FloatProduct& p, bool from_zero) {
  const size_t vectors = p.columns / kLanes;
  const size_t parts = (vectors + kVectorsInRegisters - 1) / kVectorsInRegisters;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = vectors * part / parts, end = vectors * (part + 1) / parts;
    MultiplyColumnsOf<kVectorsInRegisters>(end - begin, p, begin * kLanes, from_zero);
  }
}

// In steps over the depth whose part of the right operand fits in the first-level cache.
void Multiply(const FloatProduct& p, bool from_zero) {
  constexpr size_t kMostDepth = 104;
  const size_t steps = std::max<size_t>(1, (p.depth + kMostDepth - 1) / kMostDepth);
  for (size_t step = 0; step < steps; ++step) {
    const size_t begin = p.depth * step / steps, end = p.depth * (step + 1) / steps;
    FloatProduct part = p;
    part.depth = end - begin;
    if (part.depth > 0) {
      part.left.data += begin * p.left.depth_step;
      part.right += begin * p.right_stride;
    }
    MultiplyDepth(part, from_zero && step == 0);
  }
}

// Some columns of every row: out(i, :) stays in registers over the row's terms.
template <size_t kVectors>
void SparseColumns(const SparseProduct& p, size_t j, bool from_zero) {
  for (size_t i = 0; i < p.left.num_rows; ++i) {
    const SparseTerm* term = p.left.terms + p.left.starts[i];
    const SparseTerm* end = p.left.terms + p.left.starts[i + 1];
    if (term == end && !from_zero) continue;
    float* out = p.out + i * p.out_stride + j;
    Vector sums[kVectors];
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sums[v] = from_zero ? Vector{} : Load(out + v * kLanes);
    for (; term < end; ++term) {
      const Vector value = Broadcast(term->value);
      const float* right = p.right + term->column * p.right_stride + j;
      TALLELE_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        sums[v] = FusedMultiplyAdd(value, Load(right + v * kLanes), sums[v]);
      }
    }
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) Store(out + v * kLanes, sums[v]);
  }
}

// Some columns of every row: right(i, :) stays in registers over the row's terms.
template <size_t kVectors>
void TransposedSparseColumns(const SparseProduct& p, size_t j) {
  for (size_t i = 0; i < p.left.num_rows; ++i) {
    const SparseTerm* term = p.left.terms + p.left.starts[i];
    const SparseTerm* end = p.left.terms + p.left.starts[i + 1];
    if (term == end) continue;
    Vector right[kVectors];
    TALLELE_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      right[v] = Load(p.right + i * p.right_stride + j + v * kLanes);
    }
    for (; term < end; ++term) {
      const Vector value = Broadcast(term->value);
      float* out = p.out + term->column * p.out_stride + j;
      TALLELE_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        Store(out + v * kLanes, FusedMultiplyAdd(value, right[v], Load(out + v * kLanes)));
      }
    }
  }
}

enum class SparseForm { kAdd, kSet, kAddTransposed };

template <size_t kVectors>
void SparsePart(size_t vectors, SparseForm form, const SparseProduct& p, size_t j) {
  if constexpr (kVectors > 1) {
    if (vectors < kVectors) return SparsePart<kVectors - 1>(vectors, form, p, j);
  }
  if (form == SparseForm::kAddTransposed) {
    TransposedSparseColumns<kVectors>(p, j);
  } else {
    SparseColumns<kVectors>(p, j, form == SparseForm::kSet);
  }
}

void MultiplySparse(const SparseProduct& p, SparseForm form) {
  constexpr size_t kMostVectors = 8;
  const size_t vectors = p.columns / kLanes;
  const size_t parts = (vectors + kMostVectors - 1) / kMostVectors;
  for (size_t part = 0; part < parts; ++part) {
    const size_t begin = vectors * part / parts, end = vectors * (part + 1) / parts;
    SparsePart<kMostVectors>(end - begin, form, p, begin * kLanes);
  }
}

void Sparse(const SparseProduct& p, bool from_zero) {
  MultiplySparse(p, from_zero ? SparseForm::kSet : SparseForm::kAdd);
}
void TransposedSparse(const SparseProduct& p) { MultiplySparse(p, SparseForm::kAddTransposed); }

Vector Polynomial(const float (&coefficients)[5], Vector t) {
  Vector sum = Broadcast(coefficients[4]);
  for (int k = 3; k >= 0; --k) sum = FusedMultiplyAdd(sum, t, Broadcast(coefficients[k]));
  return sum;
}

Vector Reciprocal(Vector q) {
  // A cast between vector types keeps the bits.
  Vector r = (Vector)(kReciprocalBits - (Integers)q);
  for (int step = 0; step < kReciprocalSteps; ++step) {
    r = FusedMultiplyAdd(r, FusedMultiplyAdd(-q, r, Broadcast(1.0f)), r);
  }
  return r;
}

void Tanh(float* values, size_t count) {
  const Vector limit = Broadcast(kTanhLimit), one = Broadcast(1.0f);
  for (size_t i = 0; i < count; i += kLanes) {
    const Vector x = Load(values + i);
    const Vector t = x * x;
    Vector y = x * Polynomial(kTanhP, t) * Reciprocal(Polynomial(kTanhQ, t));
    y = (x >= limit) | (y > one) ? one : y;
    y = (x <= -limit) | (y < -one) ? -one : y;
    Store(values + i, y);
  }
}

void TanhSlope(const float* tangents, float* gradients, size_t count) {
  const Vector one = Broadcast(1.0f);
  for (size_t i = 0; i < count; i += kLanes) {
    const Vector y = Load(tangents + i);
    Store(gradients + i, Load(gradients + i) * FusedMultiplyAdd(-y, y, one));
  }
}

void Unpack(const uint8_t* row, size_t first, size_t count, const GenotypeValues& values,
            float* out) {
  Integers shifts;
  for (size_t l = 0; l < kLanes; ++l) shifts[l] = static_cast<int32_t>(2 * l);
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t snp = first + i;
    uint32_t bytes = 0;
    std::memcpy(&bytes, row + snp / 4, kLanes / 4);
    const Integers codes = ((Integers{} + static_cast<int32_t>(bytes)) >> shifts) & 3;
    Vector value = codes == 0 ? Load(values.of[0] + snp) : Load(values.of[3] + snp);
    value = codes == 1 ? Load(values.of[1] + snp) : value;
    value = codes == 2 ? Load(values.of[2] + snp) : value;
    Store(out + i, value);
  }
}

}  // namespace
}  // namespace tallele::kernels

#ifndef TALLELE_KERNELS_FLOAT_PRODUCTS_H_
#define TALLELE_KERNELS_FLOAT_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu_target.h"

namespace tallele {

// Float32 products, hyperbolic tangents and genotype values for training. Every result is one
// chain of fused multiply-adds in a stated order, so all instruction sets give the same bits.

// Columns of right operands and results come in groups of so many floats.
constexpr size_t kFloatGroup = 16;
constexpr size_t PaddedFloats(size_t count) {
  return (count + kFloatGroup - 1) / kFloatGroup * kFloatGroup;
}

// Element (i, k) is data[i * row_step + k * depth_step]; steps of a transposed matrix are swapped.
struct LeftOperand {
  const float* data;
  size_t row_step;
  size_t depth_step;
};

struct FloatProduct {
  LeftOperand left;    // rows x depth
  const float* right;  // depth x columns, row-major
  size_t right_stride;
  float* out;  // rows x columns, row-major
  size_t out_stride;
  size_t rows;
  size_t depth;
  size_t columns;  // a multiple of kFloatGroup
};

// out(i, j) = out(i, j) + sum over k of left(i, k) right(k, j), a fused multiply-add a term, k
// ascending.
void AddProduct(CpuTarget target, const FloatProduct& product);
// The same from zero: out(i, j) = sum.
void SetProduct(CpuTarget target, const FloatProduct& product);

// A sparse matrix by rows: row i holds terms[starts[i]] to terms[starts[i + 1] - 1].
struct SparseTerm {
  uint32_t column;
  float value;
};
struct SparseRows {
  const uint32_t* starts;
  const SparseTerm* terms;
  size_t num_rows;
};
struct SparseProduct {
  SparseRows left;
  const float* right;
  size_t right_stride;
  float* out;
  size_t out_stride;
  size_t columns;  // of right and out; a multiple of kFloatGroup
};

// out(i, :) += sum over the terms of row i of value right(column, :), a fused multiply-add a term,
// in their order.
void AddSparseProduct(CpuTarget target, const SparseProduct& product);
// The same from zero, also where a row has no terms.
void SetSparseProduct(CpuTarget target, const SparseProduct& product);
// AddSparseProduct with the sparse matrix transposed: out(column, :) += value right(i, :), row
// after row.
void AddTransposedSparseProduct(CpuTarget target, const SparseProduct& product);

// Hyperbolic tangent of each value in place: relative error below 4e-7, odd, at most 1 in size,
// NaN for NaN. A rational function of degree 9 over 8, fitted by least squares on [0, 9] with
// weights raised where the error was largest. `values.size()` is a multiple of kFloatGroup.
void TanhInPlace(CpuTarget target, std::span<float> values);

// gradient *= 1 - tangent^2, the derivative of tanh at its own value. Sizes as above.
void MultiplyByTanhSlope(CpuTarget target, std::span<const float> tangents,
                         std::span<float> gradients);

// What each 2-bit code of each SNP is worth: 0, 1 and 2 copies, a missing call.
struct GenotypeValues {
  const float* of[4];
};

// out[i] = value of 2-bit code (first + i) of a packed row (kernels/packed_products.h), i below
// `count`; `first` is a multiple of 16, and out, the tables and the row reach to the next multiple
// of 16 after first + count.
void UnpackValues(CpuTarget target, const uint8_t* row, size_t first, size_t count,
                  const GenotypeValues& values, float* out);

}  // namespace tallele

#endif  // TALLELE_KERNELS_FLOAT_PRODUCTS_H_

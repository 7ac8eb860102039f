#include "kernels/float_products.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/float_kernels.h"

namespace tallele {
namespace kernels {
namespace {

void Multiply(const FloatProduct& p, bool from_zero) {
  for (size_t i = 0; i < p.rows; ++i) {
    for (size_t j = 0; j < p.columns; ++j) {
      float& out = p.out[i * p.out_stride + j];
      float sum = from_zero ? 0.0f : out;
      for (size_t k = 0; k < p.depth; ++k) {
        sum = std::fma(p.left.data[i * p.left.row_step + k * p.left.depth_step],
                       p.right[k * p.right_stride + j], sum);
      }
      out = sum;
    }
  }
}

void Sparse(const SparseProduct& p, bool from_zero) {
  for (size_t i = 0; i < p.left.num_rows; ++i) {
    float* out = p.out + i * p.out_stride;
    if (from_zero) std::fill_n(out, p.columns, 0.0f);
    for (uint32_t t = p.left.starts[i]; t < p.left.starts[i + 1]; ++t) {
      const SparseTerm term = p.left.terms[t];
      const float* right = p.right + term.column * p.right_stride;
      for (size_t j = 0; j < p.columns; ++j) out[j] = std::fma(term.value, right[j], out[j]);
    }
  }
}

void TransposedSparse(const SparseProduct& p) {
  for (size_t i = 0; i < p.left.num_rows; ++i) {
    for (uint32_t t = p.left.starts[i]; t < p.left.starts[i + 1]; ++t) {
      const SparseTerm term = p.left.terms[t];
      const float* right = p.right + i * p.right_stride;
      float* out = p.out + term.column * p.out_stride;
      for (size_t j = 0; j < p.columns; ++j) out[j] = std::fma(term.value, right[j], out[j]);
    }
  }
}

float Polynomial(const float (&coefficients)[5], float t) {
  float sum = coefficients[4];
  for (int k = 3; k >= 0; --k) sum = std::fma(sum, t, coefficients[k]);
  return sum;
}

float Reciprocal(float q) {
  float r = std::bit_cast<float>(kReciprocalBits - std::bit_cast<int32_t>(q));
  for (int step = 0; step < kReciprocalSteps; ++step) r = std::fma(r, std::fma(-q, r, 1.0f), r);
  return r;
}

void Tanh(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float x = values[i];
    const float t = x * x;
    float y = x * Polynomial(kTanhP, t) * Reciprocal(Polynomial(kTanhQ, t));
    if (x >= kTanhLimit || y > 1.0f) y = 1.0f;
    if (x <= -kTanhLimit || y < -1.0f) y = -1.0f;
    values[i] = y;
  }
}

void TanhSlope(const float* tangents, float* gradients, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    gradients[i] *= std::fma(-tangents[i], tangents[i], 1.0f);
  }
}

void Unpack(const uint8_t* row, size_t first, size_t count, const GenotypeValues& values,
            float* out) {
  for (size_t i = 0; i < count; ++i) {
    const size_t snp = first + i;
    const int code = row[snp / 4] >> (2 * (snp % 4)) & 3;
    out[i] = values.of[code][snp];
  }
}

}  // namespace

const FloatKernels kFloatScalar = {Multiply, Sparse, TransposedSparse, Tanh, TanhSlope, Unpack};

}  // namespace kernels

namespace {

const kernels::FloatKernels& KernelsOf(CpuTarget target) {
  switch (target) {
    case CpuTarget::kScalar:
      return kernels::kFloatScalar;
    case CpuTarget::kAvx2:
    case CpuTarget::kAvxVnni:
      return kernels::kFloatAvx2;
    case CpuTarget::kAvx512Vnni:
    case CpuTarget::kAmx:
      return kernels::kFloatAvx512;
  }
  return kernels::kFloatScalar;
}

}  // namespace

void AddProduct(CpuTarget target, const FloatProduct& product) {
  KernelsOf(target).multiply(product, false);
}

void SetProduct(CpuTarget target, const FloatProduct& product) {
  KernelsOf(target).multiply(product, true);
}

void AddSparseProduct(CpuTarget target, const SparseProduct& product) {
  KernelsOf(target).sparse(product, false);
}

void SetSparseProduct(CpuTarget target, const SparseProduct& product) {
  KernelsOf(target).sparse(product, true);
}

void AddTransposedSparseProduct(CpuTarget target, const SparseProduct& product) {
  KernelsOf(target).transposed_sparse(product);
}

void TanhInPlace(CpuTarget target, std::span<float> values) {
  KernelsOf(target).tanh(values.data(), values.size());
}

void MultiplyByTanhSlope(CpuTarget target, std::span<const float> tangents,
                         std::span<float> gradients) {
  KernelsOf(target).tanh_slope(tangents.data(), gradients.data(), gradients.size());
}

void UnpackValues(CpuTarget target, const uint8_t* row, size_t first, size_t count,
                  const GenotypeValues& values, float* out) {
  KernelsOf(target).unpack(row, first, count, values, out);
}

}  // namespace tallele

// Float kernels: every instruction set gives the scalar code's bits, over odd sizes.
#include "kernels/float_products.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace tallele {
namespace {

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 words(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(words()) * 0x1p-31f - 1.0f;
  return values;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return false;
  }
  return true;
}

struct Shape {
  size_t rows, depth, columns;
  bool transposed;
};

std::vector<float> Multiplied(CpuTarget target, const Shape& s, bool from_zero) {
  const std::vector<float> left = RandomFloats(s.rows * s.depth, 1);
  const std::vector<float> right = RandomFloats(s.depth * (s.columns + 3), 2);
  std::vector<float> out = RandomFloats(s.rows * (s.columns + 5), 3);
  FloatProduct p{};
  p.left =
      s.transposed ? LeftOperand{left.data(), 1, s.rows} : LeftOperand{left.data(), s.depth, 1};
  p.right = right.data();
  p.right_stride = s.columns + 3;
  p.out = out.data();
  p.out_stride = s.columns + 5;
  p.rows = s.rows;
  p.depth = s.depth;
  p.columns = s.columns;
  from_zero ? SetProduct(target, p) : AddProduct(target, p);
  return out;
}

TEST(FloatProducts, AllInstructionSetsGiveTheSameBits) {
  for (const size_t rows : {1, 2, 3, 5, 6, 7, 13, 100}) {
    for (const size_t depth : {0, 1, 2, 72, 101}) {
      for (const size_t columns : {16, 32, 48, 112, 128, 240}) {
        for (const bool transposed : {false, true}) {
          for (const bool from_zero : {false, true}) {
            const Shape shape{rows, depth, columns, transposed};
            const auto expected = Multiplied(CpuTarget::kScalar, shape, from_zero);
            for (const CpuTarget target : SupportedCpuTargets()) {
              EXPECT_TRUE(SameBits(Multiplied(target, shape, from_zero), expected))
                  << CpuTargetName(target) << " " << rows << "x" << depth << "x" << columns;
            }
          }
        }
      }
    }
  }
}

TEST(FloatProducts, EqualTheSumInDouble) {
  const Shape s{7, 300, 32, false};
  const std::vector<float> left = RandomFloats(s.rows * s.depth, 1);
  const std::vector<float> right = RandomFloats(s.depth * (s.columns + 3), 2);
  const std::vector<float> out = Multiplied(SupportedCpuTargets().back(), s, true);
  for (size_t i = 0; i < s.rows; ++i) {
    for (size_t j = 0; j < s.columns; ++j) {
      double sum = 0;
      for (size_t k = 0; k < s.depth; ++k) {
        sum += double{left[i * s.depth + k]} * double{right[k * (s.columns + 3) + j]};
      }
      EXPECT_NEAR(out[i * (s.columns + 5) + j], sum, 2e-5);
    }
  }
}

struct SparseMatrix {
  std::vector<uint32_t> starts = {0};
  std::vector<SparseTerm> terms;

  // Rows of 0 to 6 terms.
  SparseMatrix(size_t rows, uint32_t columns, uint32_t seed) {
    std::mt19937 words(seed);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t t = words() % 7; t > 0; --t) {
        terms.push_back({static_cast<uint32_t>(words() % columns),
                         static_cast<float>(words()) * 0x1p-31f - 1.0f});
      }
      starts.push_back(static_cast<uint32_t>(terms.size()));
    }
  }
  SparseRows Rows(size_t first) const {
    return {starts.data() + first, terms.data(), starts.size() - 1 - first};
  }
};

enum class Form { kAdd, kSet, kTransposed };

// The product of the rows from `first` on with a dense matrix, added to numbers.
std::vector<float> SparseMultiplied(CpuTarget target, const SparseMatrix& sparse, size_t first,
                                    size_t columns, Form form) {
  constexpr size_t kRows = 40;
  const size_t stride = columns + 3;
  const std::vector<float> right = RandomFloats(kRows * stride, 2);
  std::vector<float> out = RandomFloats(kRows * stride, 3);
  const SparseProduct p{sparse.Rows(first), right.data(), stride, out.data(), stride, columns};
  if (form == Form::kAdd) AddSparseProduct(target, p);
  if (form == Form::kSet) SetSparseProduct(target, p);
  if (form == Form::kTransposed) AddTransposedSparseProduct(target, p);
  return out;
}

TEST(SparseProducts, AllInstructionSetsGiveTheSameBits) {
  const SparseMatrix sparse(40, 40, 7);
  for (const size_t columns : {16, 32, 112, 128, 144, 272}) {
    for (const Form form : {Form::kAdd, Form::kSet, Form::kTransposed}) {
      for (const size_t first : {0, 5, 40}) {
        const auto expected = SparseMultiplied(CpuTarget::kScalar, sparse, first, columns, form);
        for (const CpuTarget target : SupportedCpuTargets()) {
          EXPECT_TRUE(SameBits(SparseMultiplied(target, sparse, first, columns, form), expected))
              << CpuTargetName(target) << " " << columns << " " << static_cast<int>(form);
        }
      }
    }
  }
}

TEST(SparseProducts, EqualTheSumInDouble) {
  constexpr size_t kRows = 40, kColumns = 32, kStride = kColumns + 3;
  const SparseMatrix sparse(kRows, kRows, 7);
  const std::vector<float> right = RandomFloats(kRows * kStride, 2);
  const std::vector<float> start = RandomFloats(kRows * kStride, 3);
  for (const Form form : {Form::kAdd, Form::kSet, Form::kTransposed}) {
    const bool transposed = form == Form::kTransposed;
    std::vector<double> truth(start.begin(), start.end());
    for (size_t i = 0; form == Form::kSet && i < kRows; ++i) {
      std::fill_n(truth.begin() + static_cast<ptrdiff_t>(i * kStride), kColumns, 0.0);
    }
    for (size_t i = 0; i < kRows; ++i) {
      for (uint32_t t = sparse.starts[i]; t < sparse.starts[i + 1]; ++t) {
        const SparseTerm term = sparse.terms[t];
        const size_t from = transposed ? i : term.column, to = transposed ? term.column : i;
        for (size_t j = 0; j < kColumns; ++j) {
          truth[to * kStride + j] += double{term.value} * double{right[from * kStride + j]};
        }
      }
    }
    const auto out = SparseMultiplied(SupportedCpuTargets().back(), sparse, 0, kColumns, form);
    for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], truth[i], 2e-6) << i;
  }
}

std::vector<float> TanhArguments() {
  std::vector<float> x = {0.0f,   -0.0f, 1e-30f, -1e-10f,  9.0f,      -9.0f,
                          8.999f, 20.0f, -1e30f, INFINITY, -INFINITY, 1e-45f};
  for (int i = 0; i < 200000; ++i) x.push_back(static_cast<float>(i - 100000) * 1e-4f);
  for (float v = 1e-8f; v < 9.5f; v *= 1.0003f) x.push_back(v);
  x.resize(PaddedFloats(x.size()), 0.25f);
  return x;
}

TEST(FloatTanh, IsWithinItsBoundAndOdd) {
  const std::vector<float> x = TanhArguments();
  std::vector<float> y = x, mirrored = x;
  for (float& value : mirrored) value = -value;
  TanhInPlace(CpuTarget::kScalar, y);
  TanhInPlace(CpuTarget::kScalar, mirrored);
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = std::tanh(double{x[i]});
    EXPECT_LE(std::abs(double{y[i]} - truth), 4e-7 * std::abs(truth) + 1e-45) << x[i];
    EXPECT_LE(std::abs(y[i]), 1.0f);
    EXPECT_EQ(mirrored[i], -y[i]);
  }
}

TEST(FloatTanh, KeepsNan) {
  for (const CpuTarget target : SupportedCpuTargets()) {
    std::vector<float> values(kFloatGroup, NAN);
    TanhInPlace(target, values);
    for (const float value : values) EXPECT_TRUE(std::isnan(value)) << CpuTargetName(target);
  }
}

TEST(FloatTanh, AllInstructionSetsGiveTheSameBits) {
  std::vector<float> expected = TanhArguments();
  const std::vector<float> arguments = expected;
  TanhInPlace(CpuTarget::kScalar, expected);
  std::vector<float> slopes = RandomFloats(expected.size(), 4);
  const std::vector<float> gradients = slopes;
  MultiplyByTanhSlope(CpuTarget::kScalar, expected, slopes);
  for (const CpuTarget target : SupportedCpuTargets()) {
    std::vector<float> values = arguments, products = gradients;
    TanhInPlace(target, values);
    EXPECT_TRUE(SameBits(values, expected)) << CpuTargetName(target);
    MultiplyByTanhSlope(target, values, products);
    EXPECT_TRUE(SameBits(products, slopes)) << CpuTargetName(target);
  }
}

TEST(UnpackValues, LooksEachCodeUp) {
  constexpr size_t kSnps = 83, kPadded = 96;
  std::vector<float> tables[4];
  for (uint32_t g = 0; g < 4; ++g) tables[g] = RandomFloats(kPadded, 10 + g);
  const GenotypeValues values{
      {tables[0].data(), tables[1].data(), tables[2].data(), tables[3].data()}};
  std::mt19937 words(5);
  std::vector<uint8_t> row(kPadded / 4);
  for (uint8_t& byte : row) byte = static_cast<uint8_t>(words());
  for (const CpuTarget target : SupportedCpuTargets()) {
    for (const size_t first : {size_t{0}, size_t{16}, size_t{64}}) {
      std::vector<float> out(kPadded, -7.0f);
      UnpackValues(target, row.data(), first, kSnps - first, values, out.data());
      for (size_t i = 0; i + first < kSnps; ++i) {
        const size_t snp = first + i;
        const int code = row[snp / 4] >> (2 * (snp % 4)) & 3;
        EXPECT_EQ(out[i], tables[code][snp]) << CpuTargetName(target) << " " << snp;
      }
    }
  }
}

}  // namespace
}  // namespace tallele

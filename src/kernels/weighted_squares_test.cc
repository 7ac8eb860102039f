// Protects: sums of weights times squared numerators are exact on every instruction set, dense and
// by carriers. Expected values: a plain 128-bit loop.

#include "kernels/weighted_squares.h"

#include <gtest/gtest.h>

#include <random>

namespace tallele {
namespace {

class WeightedSquares : public testing::TestWithParam<size_t> {};

TEST_P(WeightedSquares, EqualPlainSums) {
  const size_t n = GetParam();
  std::mt19937_64 random(n + 1);
  std::vector<std::vector<double>> values(3, std::vector<double>(n));
  for (auto& column : values) {
    for (double& v : column) v = std::uniform_real_distribution<double>(-1, 1)(random);
  }
  values[0][0] = 1;  // the largest q
  std::vector<const double*> pointers;
  for (const auto& column : values) pointers.push_back(column.data());

  AlignedBuffer storage;
  storage.Resize(PairRowStride(n));
  auto* row = reinterpret_cast<uint8_t*>(storage.data());
  std::fill(row, row + storage.size(), 0);
  std::vector<uint32_t> carriers;
  std::vector<uint16_t> pairs;
  for (size_t p = 0; p < n; ++p) {
    const auto b0 = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random() % 256);
    row[2 * p] = p % 5 == 0 ? 0 : b0;
    row[2 * p + 1] = p % 5 == 0 ? 0 : static_cast<uint8_t>(random() % (256 - b0));
    if (p % 5 == 0) continue;
    carriers.push_back(static_cast<uint32_t>(p));
    pairs.push_back(static_cast<uint16_t>(row[2 * p] | row[2 * p + 1] << 8));
  }

  for (const CpuTarget target : SupportedCpuTargets()) {
    SCOPED_TRACE(CpuTargetName(target));
    const QuantisedColumns columns = QuantisedColumns::Quantise(target, pointers, n);
    const size_t chosen[] = {2, 0};
    const WeightPlanes weights(columns, chosen);
    std::vector<int64_t> linear(2, 0);
    std::vector<__int128> expected(2, 0), found(2, 0);
    for (size_t p = 0; p < n; ++p) {
      const int64_t t = 2 * row[2 * p] + row[2 * p + 1];
      for (size_t w = 0; w < 2; ++w) {
        linear[w] += t * columns.row(p)[chosen[w]];
        expected[w] += static_cast<__int128>(t * t) * columns.row(p)[chosen[w]];
      }
    }
    SumWeightedSquares(weights, row, linear, found.data());
    EXPECT_TRUE(found == expected);
    EXPECT_TRUE(SumCarrierSquares(carriers, pairs, 0, columns, 2) == expected[0]);
    EXPECT_TRUE(SumCarrierSquares(carriers, pairs, 0, columns, 0) == expected[1]);
  }
}

// Every person at the ends of what a digit and a square can be, for many flushes: 32-bit lanes
// that were summed for too long would overflow.
TEST(WeightedSquaresBounds, HoldTheLargestWeightsAndGenotypes) {
  constexpr size_t kPeople = 5000;
  constexpr int64_t kLargest = (1 << 29) - (1 << 14);  // the q of the largest value
  // Digits (0, -16, 512), (0, 16, -512), (-512, -512, 512), (511, 511, 511), (-512, -512, -511).
  for (const int64_t q : {kLargest, -kLargest, (int64_t{1} << 29) - 512 * 1025,
                          int64_t{511} * 1049601, int64_t{-512 * 1025} - 511 * 1048576}) {
    std::vector<double> values(kPeople, static_cast<double>(q) / kLargest);
    values[0] = 1;  // fixes the scale
    const double* pointer = values.data();
    for (const uint16_t pair : {0x0000, 0x00ff, 0xff00, 0x007f, 0x017f}) {
      AlignedBuffer storage;
      storage.Resize(PairRowStride(kPeople));
      auto* row = reinterpret_cast<uint8_t*>(storage.data());
      std::fill(row, row + storage.size(), 0);
      for (size_t p = 0; p < kPeople; ++p) {
        row[2 * p] = static_cast<uint8_t>(pair & 255);
        row[2 * p + 1] = static_cast<uint8_t>(pair >> 8);
      }
      const int64_t t = 2 * int64_t{pair & 255} + (pair >> 8);
      for (const CpuTarget target : SupportedCpuTargets()) {
        SCOPED_TRACE(CpuTargetName(target));
        const QuantisedColumns columns =
            QuantisedColumns::Quantise(target, std::vector<const double*>{pointer}, kPeople);
        ASSERT_EQ(columns.row(1)[0], q);
        const size_t chosen[] = {0};
        const WeightPlanes weights(columns, chosen);
        int64_t sum = 0;
        for (size_t p = 0; p < kPeople; ++p) sum += columns.row(p)[0];
        const int64_t linear[] = {t * sum};
        __int128 found = 0;
        SumWeightedSquares(weights, row, linear, &found);
        EXPECT_TRUE(found == static_cast<__int128>(t * t) * sum) << q << " " << pair;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, WeightedSquares,
                         testing::Values(1, 2, 15, 16, 17, 31, 33, 511, 512, 513, 1024, 70001));

}  // namespace
}  // namespace tallele

#include "genotype/variant_block.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tallele {
namespace {

// Var(copies) from the probabilities themselves, times D^2.
double VarianceFromProbabilities(double two, double one, double d) {
  const double mean = (2 * two + one) / d;
  return ((4 * two + one) / d - mean * mean) * d * d;
}

// Unphased diploid: E[x^2] - E[x]^2 over 0, 1, 2 copies. Phased: two independent haplotypes.
// Haploid: one, so half the phased value of two equal ones.
TEST(CallVariance, IsThatOfTheCopyNumber) {
  DecodedVariant variant;
  variant.denominator = 255;
  for (uint32_t a0 = 0; a0 <= 255; a0 += 15) {
    for (uint32_t a1 = 0; a0 + a1 <= 255; a1 += 17) {
      const double expected = VarianceFromProbabilities(a0, a1, 255);
      EXPECT_NEAR(static_cast<double>(CallVariance(variant, {a0, a1}, false)), expected, 1e-6);
    }
  }
  variant.kind = CallKind::kPhased;
  EXPECT_TRUE(CallVariance(variant, {100, 255}, false) == 100 * 155);
  EXPECT_TRUE(CallVariance(variant, {100, 100}, true) == 100 * 155);
  EXPECT_TRUE(CallVariance(variant, {100, 100}, false) == 2 * 100 * 155);
}

// 32-bit values of a call: squares pass 64 bits.
TEST(CallVariance, HoldsTheDeepestData) {
  DecodedVariant variant;
  variant.denominator = 4294967295u;
  const __int128 d = 4294967295u;
  EXPECT_TRUE(CallVariance(variant, {0, 4294967295u}, false) == 0);
  EXPECT_TRUE(CallVariance(variant, {2147483648u, 2147483647u}, false) ==
              d * (4 * __int128{2147483648u} + 2147483647u) -
                  (2 * __int128{2147483648u} + 2147483647u) *
                      (2 * __int128{2147483648u} + 2147483647u));
}

// Rows stay where the kernels expect them: aligned, apart by one stride, with room in front, and
// unmoved in content when a block must grow for planes.
TEST(VariantBlock, RowsAreAlignedAndSurviveGrowth) {
  VariantBlock block;
  const size_t people = 100, prefix = 10 + people, variants = 3, planes = 4;
  block.Reset({5, variants}, people, prefix);
  for (size_t v = 0; v < variants; ++v) {
    uint8_t* row = block.ScratchRow();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(row) % 64, 0u);
    std::memset(row - prefix, 0xee, prefix);
    for (size_t plane = 0; plane < planes; ++plane) {
      std::memset(row + plane * block.rows().stride, static_cast<int>(10 * v + plane),
                  2 * PaddedPeople(people));
    }
    DecodedVariant variant;
    variant.num_planes = planes;
    variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
    block.KeepRows(planes, PairBound::kAnyBytes);
    block.mutable_variants().push_back(variant);
  }
  EXPECT_EQ(block.rows().num_rows, variants * planes);
  EXPECT_EQ(block.rows().bound, PairBound::kAnyBytes);
  for (size_t v = 0; v < variants; ++v) {
    const PairRows rows = block.rows(block.variant(v));
    for (size_t plane = 0; plane < planes; ++plane) {
      EXPECT_EQ(rows.row(plane)[0], 10 * v + plane);
      EXPECT_EQ(rows.row(plane)[2 * people - 1], 10 * v + plane);
    }
    // Planes are joined least significant first.
    const uint32_t low = static_cast<uint32_t>(10 * v);
    EXPECT_EQ(PairOf(block, block.variant(v), 99).a0,
              low | (low + 1) << 8 | (low + 2) << 16 | (low + 3) << 24);
  }
  block.Reset({0, 1}, people, prefix);
  EXPECT_EQ(block.num_variants(), 0u);
  EXPECT_EQ(block.rows().num_rows, 0u);
  EXPECT_EQ(block.rows().bound, PairBound::kSumUpTo255);
}

// Lists keep their address when more lists follow, over many chunks.
TEST(VariantBlock, StoredListsStayValid) {
  VariantBlock block;
  block.Reset({0, 1}, 10);
  std::vector<std::span<const uint32_t>> lists;
  for (uint32_t k = 0; k < 200; ++k) {
    const std::vector<uint32_t> list(1 + k * 7 % 1000, k);
    lists.push_back(block.StoreIndices(list));
  }
  EXPECT_TRUE(block.StoreIndices({}).empty());
  for (uint32_t k = 0; k < 200; ++k) {
    ASSERT_EQ(lists[k].size(), 1 + k * 7 % 1000);
    EXPECT_EQ(lists[k].front(), k);
    EXPECT_EQ(lists[k].back(), k);
  }
}

// Carriers above a baseline of two copies, one of them missing: seven people, D = 255.
TEST(SubsetMoments, AddsTheBaselineOfPeopleWhoAreNotCarriers) {
  VariantBlock block;
  block.Reset({0, 1}, 7);
  DecodedVariant variant;
  variant.denominator = 255;
  variant.is_sparse = true;
  variant.baseline = 255;  // (255, 0)
  const std::vector<uint32_t> carriers = {1, 4}, missing = {4};
  const std::vector<uint16_t> pairs = {55 | 200 << 8, 0};
  variant.carriers = block.StoreIndices(carriers);
  variant.carrier_pairs = block.StorePairs(pairs);
  variant.missing = block.StoreIndices(missing);
  EXPECT_EQ(PairOf(block, variant, 0).a0, 255u);
  EXPECT_EQ(PairOf(block, variant, 1).a1, 200u);
  EXPECT_EQ(PairOf(block, variant, 4).a0, 0u);
  const std::vector<uint32_t> people = {1, 2, 4, 6};
  const VariantMoments m = SubsetMoments(block, variant, people);
  // Person 1: t = 310; 2 and 6: t = 510 with no variance; 4 has no call.
  EXPECT_EQ(m.num_called, 3);
  EXPECT_TRUE(m.sum_t == 310 + 2 * 510);
  EXPECT_TRUE(m.sum_t2 == 310 * 310 + 2 * 510 * 510);
  EXPECT_TRUE(m.sum_variance == 255 * (4 * 55 + 200) - 310 * 310);
  VariantMoments twice = m;
  twice += m;
  twice -= m;
  EXPECT_TRUE(twice.sum_t2 == m.sum_t2);
  EXPECT_EQ(twice.num_called, m.num_called);
}

}  // namespace
}  // namespace tallele

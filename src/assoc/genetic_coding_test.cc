// Protects: codes and the rows that carry them, for every depth of data.

#include "assoc/genetic_coding.h"

#include <gtest/gtest.h>

namespace tallele {
namespace {

TEST(GeneticCoding, RowsCarryTheirCodes) {
  for (const uint64_t highest : {uint64_t{2}, uint64_t{510}, uint64_t{65025}, uint64_t{131070},
                                 (uint64_t{1} << 32) - 1, uint64_t{2} * UINT32_MAX}) {
    const size_t planes = PlanesOfCodes(highest);
    const std::vector<uint64_t> codes = {0, 1, highest, highest / 2, highest - 1};
    const size_t stride = PairRowStride(codes.size());
    std::vector<uint8_t> rows(planes * stride, 0xAB);
    WriteCodeRows(codes, planes, stride, rows.data());
    for (size_t p = 0; p < codes.size(); ++p) {
      uint64_t total = 0;
      for (size_t k = planes; k-- > 0;) {
        const uint8_t* pair = rows.data() + k * stride + 2 * p;
        const uint64_t t = 2 * uint64_t{pair[0]} + pair[1];
        if (BoundOfCodes(highest) == PairBound::kSumUpTo255) {
          EXPECT_LE(pair[0] + pair[1], 255);
        }
        total = total * 256 + t;
      }
      EXPECT_EQ(total, codes[p]) << highest;
    }
    for (size_t i = 2 * codes.size(); i < stride; ++i) EXPECT_EQ(rows[i], 0);
  }
}

TEST(GeneticCoding, ScalesByModelAndPhase) {
  DecodedVariant variant;
  variant.denominator = 255;
  EXPECT_FALSE(NeedsRecoding({}, variant));
  EXPECT_TRUE(NeedsRecoding({GeneticModel::kDominant, false}, variant));
  EXPECT_EQ(CodeScaleOf({GeneticModel::kDominant, false}, variant).unit, 255u);
  variant.kind = CallKind::kPhased;
  EXPECT_TRUE(NeedsRecoding({}, variant));
  EXPECT_EQ(CodeScaleOf({}, variant).highest, 510u);
  EXPECT_EQ(CodeScaleOf({GeneticModel::kRecessive, true}, variant).unit, 255u * 255u);
  variant.denominator = UINT32_MAX;
  EXPECT_EQ(CodeScaleOf({GeneticModel::kRecessive, true}, variant).unit, UINT32_MAX);
}

}  // namespace
}  // namespace tallele

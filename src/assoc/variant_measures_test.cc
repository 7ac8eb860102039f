// Protects: N, frequency, allele count and the two INFO measures, against hand calculations.

#include "assoc/variant_measures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tallele {
namespace {

// Four diploid people with dosages 0, 0.5 (P one = 0.5), 1 (sure), 2 (sure); D = 2.
VariantMoments FourPeople() {
  VariantMoments m;
  m.num_called = 4;
  m.sum_t = 0 + 1 + 2 + 4;
  m.sum_t2 = 0 + 1 + 4 + 16;
  m.sum_variance = 1;  // D^2 * 0.25
  return m;
}

TEST(VariantMeasures, Diploid) {
  const VariantMeasures m = MeasureVariant(FourPeople(), 2, true, nullptr);
  EXPECT_EQ(m.num_called, 4);
  EXPECT_DOUBLE_EQ(m.first_frequency, 3.5 / 8);
  EXPECT_DOUBLE_EQ(m.second_frequency, 4.5 / 8);
  EXPECT_DOUBLE_EQ(m.minor_allele_count, 3.5);
  const double expected = 8 * (3.5 / 8) * (4.5 / 8);
  EXPECT_DOUBLE_EQ(m.impute_info, 1 - 0.25 / expected);
  EXPECT_DOUBLE_EQ(m.info_ratio, (21.0 / 4 - 3.5 * 3.5 / 4) / expected);
}

TEST(VariantMeasures, MalesCountHalf) {
  VariantMoments males;
  males.num_called = 2;
  males.sum_t = 4 + 0;  // one with two copies, one with none
  const VariantMeasures m = MeasureVariant(FourPeople(), 2, true, &males);
  // First allele 3.5 - 2/2 = 2.5; second 4.5 - 2/2 = 3.5. The frequency stays.
  EXPECT_DOUBLE_EQ(m.minor_allele_count, 2.5);
  EXPECT_DOUBLE_EQ(m.first_frequency, 3.5 / 8);
}

TEST(VariantMeasures, HaploidCallsExpectHalfTheVariance) {
  VariantMoments m = FourPeople();
  m.num_haploid = 2;
  const double product = (3.5 / 8) * (4.5 / 8);
  EXPECT_DOUBLE_EQ(MeasureVariant(m, 2, true, nullptr).impute_info, 1 - 0.25 / (product * 6));
}

TEST(VariantMeasures, MonomorphicHardCallsAndNobody) {
  VariantMoments m;
  m.num_called = 3;
  const VariantMeasures imputed = MeasureVariant(m, 255, true, nullptr);
  EXPECT_EQ(imputed.impute_info, 1);
  EXPECT_TRUE(std::isnan(imputed.info_ratio));
  EXPECT_EQ(imputed.minor_allele_count, 0);
  EXPECT_TRUE(std::isnan(MeasureVariant(FourPeople(), 2, false, nullptr).impute_info));
  const VariantMeasures nobody = MeasureVariant({}, 255, true, nullptr);
  EXPECT_EQ(nobody.num_called, 0);
  EXPECT_EQ(nobody.first_frequency, 0);
}

}  // namespace
}  // namespace tallele

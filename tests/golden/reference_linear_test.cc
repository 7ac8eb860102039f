// Protects: the oracle of the property tests, against a case that can be done by hand.

#include "tests/golden/reference_linear.h"

#include <gtest/gtest.h>
#include <cmath>

namespace tallele::golden {
namespace {

TEST(ReferenceLinear, InterceptOnlyByHand) {
  // y = 1 2 3 6: mean 3, r0 = -2 -1 0 3, |r0|^2 = 14, df = 3. g = 0 0 1 1: centred -.5 -.5 .5 .5,
  // v = 1, r0'g = 3.
  const std::vector<double> trait = {1, 2, 3, 6};
  const ReferenceNull null = FitReferenceNull({}, trait, {});
  EXPECT_NEAR(static_cast<double>(null.scale), std::sqrt(14.0 / 3), 1e-15);
  EXPECT_NEAR(static_cast<double>(null.mse), 1, 1e-15);
  const std::vector<std::optional<Real>> g = {0, 0, 1, 1};
  const ReferenceRow row = TestReferenceVariant(null, g);
  EXPECT_EQ(row.n, 4);
  EXPECT_NEAR(static_cast<double>(row.beta), 3, 1e-14);
  EXPECT_NEAR(static_cast<double>(row.chisq), 9 / (14.0 / 3), 1e-14);
  EXPECT_NEAR(static_cast<double>(row.se), std::sqrt(14.0 / 3), 1e-14);
}

TEST(ReferenceLinear, MissingCallsGetTheMean) {
  const std::vector<double> trait = {1, 2, 3, 6};
  const ReferenceNull null = FitReferenceNull({}, trait, {});
  const std::vector<std::optional<Real>> g = {0, 2, std::nullopt, 1};
  const ReferenceRow row = TestReferenceVariant(null, g);
  EXPECT_EQ(row.n, 3);
  EXPECT_NEAR(static_cast<double>(row.a1freq), 0.5, 1e-15);
  // g = 0 2 1 1, centred -1 1 0 0: v = 2, r0'g = 1.
  EXPECT_NEAR(static_cast<double>(row.beta), 0.5, 1e-14);
}

}  // namespace
}  // namespace tallele::golden

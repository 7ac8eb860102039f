// Protects: the basis is orthonormal, spans intercept and covariates, and its rank does not depend
// on the covariates' origins and units.

#include "assoc/covariate_basis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tallele {
namespace {

constexpr size_t kPeople = 200;

std::vector<std::vector<double>> Columns(double shift, double unit) {
  std::vector<std::vector<double>> columns(3, std::vector<double>(kPeople));
  for (size_t i = 0; i < kPeople; ++i) {
    const double x = static_cast<double>(i);
    columns[0][i] = (std::sin(x) + shift) * unit;
    columns[1][i] = std::cos(1.7 * x);
    columns[2][i] = i % 3 == 0;
  }
  return columns;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(CovariateBasis, OrthonormalAndComplete) {
  for (const double shift : {0.0, 1e6}) {
    const auto columns = Columns(shift, 1e-3);
    const std::vector<std::string> names = {"a", "b", "c"};
    const auto basis = BuildCovariateBasis(columns, names, kPeople);
    ASSERT_TRUE(basis.ok());
    ASSERT_EQ(basis->rank(), 4u);
    EXPECT_TRUE(basis->dropped.empty());
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        EXPECT_NEAR(Dot(basis->columns[i], basis->columns[j]), i == j, 1e-12);
      }
    }
    for (const auto& column : columns) {
      std::vector<double> rest = column;
      for (const auto& q : basis->columns) {
        const double along = Dot(q, rest);
        for (size_t i = 0; i < kPeople; ++i) rest[i] -= along * q[i];
      }
      EXPECT_LT(std::sqrt(Dot(rest, rest)), 1e-11 * std::sqrt(Dot(column, column)));
    }
  }
}

TEST(CovariateBasis, DropsWhatTheOthersDetermine) {
  auto columns = Columns(0, 1);
  columns.push_back(columns[0]);
  for (double& x : columns.back()) x = 1e5 * x - 77;
  columns.emplace_back(kPeople, 4.0);
  const std::vector<std::string> names = {"a", "b", "c", "a2", "four"};
  const auto basis = BuildCovariateBasis(columns, names, kPeople);
  ASSERT_TRUE(basis.ok());
  EXPECT_EQ(basis->rank(), 4u);
  ASSERT_EQ(basis->dropped.size(), 2u);
  EXPECT_EQ(basis->dropped[0], "four");
  EXPECT_TRUE(basis->dropped[1] == "a" || basis->dropped[1] == "a2");
}

TEST(CovariateBasis, MoreCovariatesThanPeople) {
  std::vector<std::vector<double>> columns;
  std::vector<std::string> names;
  for (int c = 0; c < 5; ++c) {
    columns.push_back({std::sin(c), std::cos(c), std::sin(2.0 * c + 1)});
    names.push_back("c" + std::to_string(c));
  }
  const auto basis = BuildCovariateBasis(columns, names, 3);
  ASSERT_TRUE(basis.ok());
  EXPECT_EQ(basis->rank(), 3u);
}

TEST(CovariateBasis, InterceptAloneAndNobody) {
  const auto basis = BuildCovariateBasis({}, {}, 4);
  ASSERT_TRUE(basis.ok());
  EXPECT_EQ(basis->rank(), 1u);
  EXPECT_EQ(basis->columns[0], std::vector<double>(4, 0.5));
  EXPECT_FALSE(BuildCovariateBasis({}, {}, 0).ok());
}

}  // namespace
}  // namespace tallele

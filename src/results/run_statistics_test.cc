#include "results/run_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tallele {
namespace {

double SortedMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::vector<double> ChiSquares(size_t count) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = std::pow(normal(generator), 2);
  return values;
}

// Small runs: the median by definition, for odd and even counts and with ties.
TEST(StreamingMedian, IsExactForSmallCounts) {
  for (const size_t count : {size_t{1}, size_t{2}, size_t{3}, size_t{1000}, size_t{131'072}}) {
    const std::vector<double> values = ChiSquares(count);
    StreamingMedian median;
    for (const double value : values) median.Add(value);
    EXPECT_EQ(median.Median(), SortedMedian(values)) << count;
  }
  EXPECT_TRUE(std::isnan(StreamingMedian().Median()));
}

// Large runs: within the stated error, for ordinary values, zeros and values beyond the bins.
TEST(StreamingMedian, IsCloseInBoundedMemory) {
  std::vector<double> values = ChiSquares(400'001);
  StreamingMedian median;
  for (const double value : values) median.Add(value);
  EXPECT_NEAR(median.Median() / SortedMedian(values), 1, 1.3e-4);

  StreamingMedian extreme;
  for (int i = 0; i < 200'000; ++i) extreme.Add(i % 2 == 0 ? 0 : 1e300);
  EXPECT_EQ(extreme.count(), 200'000u);
  StreamingMedian zeros;
  for (int i = 0; i < 200'000; ++i) zeros.Add(0);
  EXPECT_LT(zeros.Median(), 1e-9);
}

// Rows that failed are counted and stay out of lambda; the first of equal top rows wins.
TEST(TraitStatistics, SummarisesRows) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ResultTable table;
  const double chisq[] = {0.1, 5, 0.4549364, 5, 0.2};
  const double log10p[] = {0.12, 1.6, 0.30103, 1.6, 0.18};
  for (uint32_t i = 0; i < 5; ++i) {
    ResultRow row;
    row.variant = i;
    row.chisq = chisq[i];
    row.log10p = log10p[i];
    table.rows.push_back(row);
  }
  ResultRow failed;
  failed.variant = 9;
  failed.beta = failed.se = failed.chisq = failed.log10p = nan;
  failed.status = RowStatus::kNoVariance;
  table.rows.push_back(failed);

  TraitStatistics statistics;
  statistics.Add(table);
  EXPECT_EQ(statistics.num_rows(), 6u);
  EXPECT_EQ(statistics.num_failed_rows(), 1u);
  EXPECT_NEAR(statistics.LambdaGc(), 1, 1e-6);
  ASSERT_TRUE(statistics.top_hit().has_value());
  EXPECT_EQ(statistics.top_hit()->variant, 1u);
}

}  // namespace
}  // namespace tallele

#include "assoc/binary_score.h"

#include <algorithm>
#include <cmath>

#include "assoc/linear_score.h"

namespace tallele {
namespace {

__int128 JoinPlanes(const VariantSums& sums, size_t column) {
  __int128 total = sums.all[(sums.num_planes - 1) * sums.all_stride + column];
  for (size_t k = sums.num_planes - 1; k-- > 0;) {
    total = total * 256 + sums.all[k * sums.all_stride + column];
  }
  return total;
}

}  // namespace

void WeightedVariant::Prepare(const BlockSums& sums, size_t variant, const ChromosomeState& state,
                              const CodeMoments& moments, int64_t num_called) {
  state_ = &state;
  sums_ = sums.Sums(variant);
  squares_ = sums.WeightedSquares(variant);
  missing_ = sums.MissingSums(variant);
  num_called_ = num_called;
  const __int128 highest = static_cast<__int128>(sums_.scale.highest);
  turned_ = 2 * moments.sum > highest * num_called;
  const __int128 sum = turned_ ? highest * num_called - moments.sum : moments.sum;
  mean_ = num_called == 0 ? 0
                          : static_cast<double>(sum) / static_cast<double>(sums_.scale.unit) /
                                static_cast<double>(num_called);
}

// Columns are zero outside a trait's mask, so sums over everyone are sums over the mask.
double WeightedVariant::Sum(size_t column) const {
  const QuantisedColumns& columns = *state_->columns;
  __int128 sum = JoinPlanes(sums_, column);
  const int64_t missing = missing_ == nullptr ? 0 : missing_[column];
  if (turned_) {
    sum = static_cast<__int128>(sums_.scale.highest) * (columns.sum(column) - missing) - sum;
  }
  return (static_cast<double>(sum) / static_cast<double>(sums_.scale.unit) +
          mean_ * static_cast<double>(missing)) *
         columns.scale(column);
}

double WeightedVariant::SquareSum(const BinaryNull& null) const {
  const size_t column = null.first_column;
  const int64_t missing = missing_ == nullptr ? 0 : missing_[column];
  __int128 squares = squares_[null.weight];
  if (turned_) {
    const __int128 highest = static_cast<__int128>(sums_.scale.highest);
    const __int128 weight = state_->columns->sum(column) - missing;
    squares += highest * (highest * weight - 2 * JoinPlanes(sums_, column));
  }
  const double unit = static_cast<double>(sums_.scale.unit);
  return (static_cast<double>(squares) / (unit * unit) +
          mean_ * mean_ * static_cast<double>(missing)) *
         null.weight_scale;
}

BinaryScore WeightedVariant::Test(const BinaryNull& null) {
  BinaryScore out;
  const QuantisedColumns& columns = *state_->columns;
  const size_t k = null.factor.size() / null.rank;
  const size_t residual = null.first_column + k;
  along_.assign(null.rank, 0);
  for (size_t c = 0; c < k; ++c) {
    const double sum = Sum(null.first_column + c);
    const double* row = null.factor.data() + c * null.rank;
    for (size_t e = 0; e < null.rank; ++e) along_[e] += row[e] * sum;
  }
  const double squares = SquareSum(null);
  out.variance = squares;
  for (const double along : along_) out.variance -= along * along;
  out.score = Sum(residual);
  // q of a case is one number, so sums of the indicator are whole multiples of it.
  const size_t indicator = residual + 1;
  const double q = 1 / columns.scale(indicator);
  out.case_codes = static_cast<double>(JoinPlanes(sums_, indicator)) / q;
  const int64_t missing = missing_ == nullptr ? 0 : missing_[indicator];
  out.called_cases =
      static_cast<int64_t>(std::llround(static_cast<double>(columns.sum(indicator) - missing) / q));
  out.has_test =
      num_called_ > 0 && out.variance > std::max(kSmallestScoreDeviation * kSmallestScoreDeviation,
                                                 squares * kRelativeVarianceTolerance);
  return out;
}

std::vector<double> WeightedVariant::AdjustmentOf(const BinaryNull& null) const {
  const size_t k = null.factor.size() / null.rank;
  std::vector<double> out(k, 0);
  for (size_t c = 0; c < k; ++c) {
    for (size_t e = 0; e < null.rank; ++e) out[c] += null.factor[c * null.rank + e] * along_[e];
  }
  return out;
}

}  // namespace tallele

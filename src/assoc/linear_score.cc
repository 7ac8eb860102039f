#include "assoc/linear_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/normal_tail.h"

namespace tallele {
namespace {

// One plane of at most 2^22 people: |sums| < 2^9 * 2^29 * 2^22, and turning them round at most
// doubles that.
constexpr size_t kLargestNarrowPeople = size_t{1} << 22;

template <typename Integer>
Integer JoinPlanes(const int64_t* sums, size_t stride, size_t num_planes, size_t column) {
  Integer total = sums[(num_planes - 1) * stride + column];
  for (size_t k = num_planes - 1; k-- > 0;) total = total * 256 + sums[k * stride + column];
  return total;
}

}  // namespace

template <typename Integer>
void ResidualisedVariant::FillCovariateSums(const int64_t* list_missing) {
  const size_t k = state_->num_covariates;
  const bool has_list = !group_->list.empty();
  const double unit = static_cast<double>(sums_.scale.unit);
  const Integer highest = static_cast<Integer>(sums_.scale.highest);
  for (size_t c = 0; c < k; ++c) {
    Integer sum = JoinPlanes<Integer>(sums_.all, sums_.all_stride, sums_.num_planes, c);
    int64_t missing = missing_ == nullptr ? 0 : missing_[c];
    if (has_list) {
      const Integer part = JoinPlanes<Integer>(list_.sums, list_.stride, sums_.num_planes, c);
      sum = group_->list_is_complement ? sum - part : part;
      if (missing_ != nullptr) {
        missing = group_->list_is_complement ? missing - list_missing[c] : list_missing[c];
      }
    }
    if (turned_) sum = highest * (group_->covariate_sums[c] - missing) - sum;
    cross_[c] = static_cast<double>(sum) / unit + mean_ * static_cast<double>(missing);
  }
}

template <typename Integer>
double ResidualisedVariant::ResidualSum(size_t column) const {
  const QuantisedColumns& columns = *state_->columns;
  Integer sum = JoinPlanes<Integer>(sums_.all, sums_.all_stride, sums_.num_planes, column);
  const int64_t missing = missing_ == nullptr ? 0 : missing_[column];
  if (turned_) {
    sum = static_cast<Integer>(sums_.scale.highest) * (columns.sum(column) - missing) - sum;
  }
  return (static_cast<double>(sum) / static_cast<double>(sums_.scale.unit) +
          mean_ * static_cast<double>(missing)) *
         columns.scale(column);
}

bool ResidualisedVariant::Compute(const BlockSums& sums, size_t variant,
                                  const ChromosomeState& state, size_t group,
                                  const CodeMoments& moments, int64_t num_called) {
  if (num_called == 0) return false;
  state_ = &state;
  group_ = state.groups[group].group.get();
  sums_ = sums.Sums(variant);
  if (!group_->list.empty()) list_ = sums.SumsOverList(variant, group);
  missing_ = sums.MissingSums(variant);
  wide_ = sums_.num_planes > 1 || state.columns->num_people() > kLargestNarrowPeople;

  const double unit = static_cast<double>(sums_.scale.unit);
  const __int128 highest = static_cast<__int128>(sums_.scale.highest);
  CodeMoments codes = moments;
  turned_ = 2 * codes.sum > highest * num_called;
  if (turned_) {
    codes.sum_squares += highest * (highest * num_called - 2 * codes.sum);
    codes.sum = highest * num_called - codes.sum;
  }
  mean_ = static_cast<double>(codes.sum) / unit / static_cast<double>(num_called);
  const double num_missing =
      static_cast<double>(group_->num_people) - static_cast<double>(num_called);
  const double squares =
      static_cast<double>(codes.sum_squares) / (unit * unit) + num_missing * mean_ * mean_;

  cross_.resize(state.num_covariates);
  const int64_t* list_missing =
      missing_ == nullptr ? nullptr : sums.MissingSumsOverList(variant, group);
  if (wide_) {
    FillCovariateSums<__int128>(list_missing);
  } else {
    FillCovariateSums<int64_t>(list_missing);
  }
  const size_t rank = group_->rank;
  along_.assign(rank, 0);
  for (size_t c = 0; c < cross_.size(); ++c) {
    const double* row = group_->factor.data() + c * rank;
    for (size_t e = 0; e < rank; ++e) along_[e] += row[e] * cross_[c];
  }
  variance_ = squares;
  for (size_t e = 0; e < rank; ++e) variance_ -= along_[e] * along_[e];
  return variance_ >
         std::max(std::numeric_limits<double>::min(), squares * kRelativeVarianceTolerance);
}

LinearStatistics ResidualisedVariant::Test(const TraitNull& trait, double sign) const {
  double score = wide_ ? ResidualSum<__int128>(trait.column) : ResidualSum<int64_t>(trait.column);
  for (size_t e = 0; e < along_.size(); ++e) score -= trait.projection[e] * along_[e];
  LinearStatistics out;
  out.se = trait.scale * std::sqrt(trait.mse / variance_);
  if (score == 0) return out;
  out.beta = trait.scale * score / variance_ * (turned_ ? -sign : sign);
  out.chisq = score * score / (variance_ * trait.mse);
  out.log10p = ChiSquareLog10P(out.chisq);
  return out;
}

}  // namespace tallele

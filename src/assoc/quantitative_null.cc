#include "assoc/quantitative_null.h"

#include <algorithm>
#include <cmath>

namespace tallele {
namespace {

// The factor is made of quantised columns, which are off by 1e-9 (more in directions that are
// nearly lost inside the mask): each round multiplies what is left by that.
constexpr int kProjectionRounds = 4;
constexpr double kProjectionTolerance = 1e-14;

// A residual this small against the centred trait, or against the rounding of the trait's own
// values, is no residual: the covariates give the trait exactly.
constexpr double kSpanTolerance = 1e-8;
constexpr double kRoundingTolerance = 1e-14;

// Four running sums, joined in one order: the same bits on every machine.
double Dot(std::span<const double> a, std::span<const double> b) {
  double lanes[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (size_t k = 0; k < 4; ++k) lanes[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) lanes[i % 4] += a[i] * b[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

double Norm(std::span<const double> values) { return std::sqrt(Dot(values, values)); }

// Sets everyone outside the mask to zero.
void Mask(const PersonSet& mask, std::span<double> values) {
  for (size_t b = 0; b < values.size(); ++b) {
    if (!mask.Contains(b)) values[b] = 0;
  }
}

// r -= X factor factor' X'r within the mask, where r is zero outside it. Returns the length of
// what was taken out.
double ProjectOut(const CovariateBasis& basis, std::span<const double> scales,
                  const SampleGroup& group, std::span<double> r) {
  std::vector<double> along(group.rank, 0);
  for (size_t c = 0; c < basis.rank(); ++c) {
    if (scales[c] == 0) continue;
    const double sum = Dot(basis.columns[c], r) / scales[c];
    for (size_t e = 0; e < group.rank; ++e) along[e] += group.factor[c * group.rank + e] * sum;
  }
  for (size_t c = 0; c < basis.rank(); ++c) {
    if (scales[c] == 0) continue;
    double weight = 0;
    for (size_t e = 0; e < group.rank; ++e) weight += group.factor[c * group.rank + e] * along[e];
    weight /= scales[c];
    const std::vector<double>& column = basis.columns[c];
    for (size_t b = 0; b < r.size(); ++b) r[b] -= weight * column[b];
  }
  Mask(group.mask, r);
  return Norm(along);
}

// `values` minus their mean over the mask, zero outside. `largest`: their largest size.
std::vector<double> CentreInMask(std::span<const double> values, const SampleGroup& group,
                                 double* largest) {
  double sum = 0;
  for (size_t b = 0; b < values.size(); ++b) {
    if (!group.mask.Contains(b)) continue;
    sum += values[b];
    *largest = std::max(*largest, std::fabs(values[b]));
  }
  const double mean = sum / static_cast<double>(group.num_people);
  std::vector<double> centred(values.size(), 0);
  for (size_t b = 0; b < values.size(); ++b) {
    if (group.mask.Contains(b)) centred[b] = values[b] - mean;
  }
  return centred;
}

}  // namespace

ResidualTrait ResidualiseTrait(std::span<const double> values, const CovariateBasis& basis,
                               std::span<const double> covariate_scales,
                               std::shared_ptr<const SampleGroup> group) {
  ResidualTrait out;
  out.group = group;
  if (group->num_people <= group->rank) {
    out.problem = "only " + std::to_string(group->num_people) + " people for " +
                  std::to_string(group->rank) + " covariates (intercept included)";
    return out;
  }
  double largest = 0;
  std::vector<double> r = CentreInMask(values, *group, &largest);
  const double centred = Norm(r);
  for (int round = 0; round < kProjectionRounds; ++round) {
    const double taken = ProjectOut(basis, covariate_scales, *group, r);
    if (taken <= kProjectionTolerance * centred) break;
  }
  const double left = Norm(r);
  const double n = static_cast<double>(group->num_people);
  const double rounding = kRoundingTolerance * largest * std::sqrt(n);
  if (!(left > std::max(kSpanTolerance * centred, rounding))) {
    out.problem = "the covariates determine the trait: nothing is left to test";
    return out;
  }
  out.scale = left / std::sqrt(n - static_cast<double>(group->rank));
  for (double& value : r) value /= out.scale;
  out.residual = std::move(r);
  return out;
}

ScoreResidual SubtractLoco(const ResidualTrait& trait, std::span<const double> loco) {
  ScoreResidual out;
  out.values = trait.residual;
  double squares = 0;
  for (size_t b = 0; b < out.values.size(); ++b) {
    if (!trait.group->mask.Contains(b)) continue;
    if (!loco.empty()) out.values[b] -= loco[b];
    squares += out.values[b] * out.values[b];
  }
  out.mse = squares / static_cast<double>(trait.group->num_people - trait.group->rank);
  return out;
}

}  // namespace tallele

#include "assoc/quantitative_null.h"

#include <algorithm>
#include <cmath>

namespace tallele {
namespace {

// The factor is made of quantised columns, which are off by 1e-9 (more in directions that are
// nearly lost inside the mask): each round multiplies what is left by that.
constexpr int kProjectionRounds = 3;

// A residual this small against the centred trait, or against the rounding of the trait's own
// values, is no residual: the covariates give the trait exactly.
constexpr double kSpanTolerance = 1e-8;
constexpr double kRoundingTolerance = 1e-14;

std::vector<uint32_t> PeopleOf(const SampleGroup& group, size_t num_base) {
  std::vector<uint32_t> people;
  people.reserve(group.num_people);
  for (uint32_t b = 0; b < num_base; ++b) {
    if (group.mask.Contains(b)) people.push_back(b);
  }
  return people;
}

double Norm(std::span<const double> values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return std::sqrt(squares);
}

// r -= X factor factor' X'r. `factor` is for columns in units of their scales.
void ProjectOut(const CovariateBasis& basis, std::span<const double> scales,
                const SampleGroup& group, std::span<const uint32_t> people, std::span<double> r) {
  std::vector<double> along(group.rank, 0);
  for (size_t c = 0; c < basis.rank(); ++c) {
    const std::vector<double>& column = basis.columns[c];
    double sum = 0;
    for (size_t i = 0; i < people.size(); ++i) sum += column[people[i]] * r[i];
    if (scales[c] == 0) continue;
    for (size_t e = 0; e < group.rank; ++e) {
      along[e] += group.factor[c * group.rank + e] / scales[c] * sum;
    }
  }
  for (size_t c = 0; c < basis.rank(); ++c) {
    if (scales[c] == 0) continue;
    double weight = 0;
    for (size_t e = 0; e < group.rank; ++e) {
      weight += group.factor[c * group.rank + e] / scales[c] * along[e];
    }
    const std::vector<double>& column = basis.columns[c];
    for (size_t i = 0; i < people.size(); ++i) r[i] -= weight * column[people[i]];
  }
}

}  // namespace

ResidualTrait ResidualiseTrait(std::span<const double> values, const CovariateBasis& basis,
                               std::span<const double> covariate_scales,
                               std::shared_ptr<const SampleGroup> group) {
  ResidualTrait out;
  out.group = group;
  const std::vector<uint32_t> people = PeopleOf(*group, values.size());
  if (people.size() <= group->rank) {
    out.problem = "only " + std::to_string(people.size()) + " people for " +
                  std::to_string(group->rank) + " covariates (intercept included)";
    return out;
  }
  std::vector<double> r(people.size());
  double largest = 0;
  double sum = 0;
  for (const uint32_t b : people) {
    largest = std::max(largest, std::fabs(values[b]));
    sum += values[b];
  }
  const double n = static_cast<double>(people.size());
  for (size_t i = 0; i < people.size(); ++i) r[i] = values[people[i]] - sum / n;
  const double centred = Norm(r);
  for (int round = 0; round < kProjectionRounds; ++round) {
    ProjectOut(basis, covariate_scales, *group, people, r);
  }
  const double left = Norm(r);
  const double rounding = kRoundingTolerance * largest * std::sqrt(n);
  if (!(left > std::max(kSpanTolerance * centred, rounding))) {
    out.problem = "the covariates determine the trait: nothing is left to test";
    return out;
  }
  out.scale = left / std::sqrt(n - static_cast<double>(group->rank));
  out.residual.assign(values.size(), 0);
  for (size_t i = 0; i < people.size(); ++i) out.residual[people[i]] = r[i] / out.scale;
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

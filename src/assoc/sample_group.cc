#include "assoc/sample_group.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace tallele {
namespace {

// Products of two q stay below 2^58, so 16 of them fit 64 bits.
constexpr size_t kPeoplePerFlush = 16;

std::vector<uint32_t> UsedPeople(const ScanAxis& axis) {
  std::vector<uint32_t> used;
  used.reserve(axis.num_used());
  for (uint32_t p = 0; p < axis.num_block_people(); ++p) {
    if (axis.base_of_block[p] != ScanAxis::kNobody) used.push_back(p);
  }
  return used;
}

std::vector<int64_t> ColumnSums(const QuantisedColumns& columns, size_t count,
                                std::span<const uint32_t> people) {
  std::vector<int64_t> sums(count, 0);
  for (const uint32_t person : people) {
    const int32_t* q = columns.row(person);
    for (size_t c = 0; c < count; ++c) sums[c] += q[c];
  }
  return sums;
}

// Fills factor and rank from the exact cross-products.
void FactorPseudoInverse(const IntegerGram& gram, const QuantisedColumns& columns,
                         size_t num_covariates, SampleGroup& group) {
  const auto k = static_cast<Eigen::Index>(num_covariates);
  Eigen::MatrixXd cross(k, k);
  for (size_t i = 0; i < num_covariates; ++i) {
    for (size_t j = 0; j < num_covariates; ++j) {
      cross(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          static_cast<double>(gram[i * num_covariates + j]) * (columns.scale(i) * columns.scale(j));
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(cross);
  const Eigen::VectorXd& values = solver.eigenvalues();
  const double threshold = kMaskRankTolerance * values[k - 1];
  Eigen::Index first = 0;
  while (first < k && !(values[first] > threshold && values[first] > 0)) ++first;
  group.rank = static_cast<size_t>(k - first);
  group.factor.resize(num_covariates * group.rank);
  for (Eigen::Index c = 0; c < k; ++c) {
    for (Eigen::Index e = first; e < k; ++e) {
      group.factor[static_cast<size_t>(c) * group.rank + static_cast<size_t>(e - first)] =
          solver.eigenvectors()(c, e) / std::sqrt(values[e]) *
          columns.scale(static_cast<size_t>(c));
    }
  }
}

}  // namespace

IntegerGram CovariateGram(const QuantisedColumns& columns, size_t num_covariates,
                          std::span<const uint32_t> people) {
  const size_t k = num_covariates;
  IntegerGram gram(k * k, 0);
  std::vector<int64_t> partial(k * k);
  for (size_t begin = 0; begin < people.size(); begin += kPeoplePerFlush) {
    const size_t end = std::min(people.size(), begin + kPeoplePerFlush);
    std::fill(partial.begin(), partial.end(), 0);
    for (size_t p = begin; p < end; ++p) {
      const int32_t* q = columns.row(people[p]);
      for (size_t i = 0; i < k; ++i) {
        const int64_t qi = q[i];
        int64_t* to = partial.data() + i * k;
        for (size_t j = 0; j <= i; ++j) to[j] += qi * q[j];
      }
    }
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j <= i; ++j) gram[i * k + j] += partial[i * k + j];
    }
  }
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < i; ++j) gram[j * k + i] = gram[i * k + j];
  }
  return gram;
}

SampleGroupBuilder::SampleGroupBuilder(const ScanAxis& axis, const std::vector<bool>& is_male,
                                       const QuantisedColumns& covariates, size_t num_covariates)
    : axis_(axis), is_male_(is_male), covariates_(covariates), num_covariates_(num_covariates) {
  const std::vector<uint32_t> used = UsedPeople(axis);
  used_gram_ = CovariateGram(covariates, num_covariates, used);
  used_sums_ = ColumnSums(covariates, num_covariates, used);
}

std::shared_ptr<const SampleGroup> SampleGroupBuilder::Build(PersonSet mask) const {
  auto group = std::make_shared<SampleGroup>();
  std::vector<uint32_t> inside;
  std::vector<uint32_t> outside;
  for (uint32_t p = 0; p < axis_.num_block_people(); ++p) {
    const uint32_t b = axis_.base_of_block[p];
    if (b == ScanAxis::kNobody) continue;
    (mask.Contains(b) ? inside : outside).push_back(p);
    if (mask.Contains(b) && is_male_[b]) group->males.push_back(p);
  }
  group->num_people = inside.size();
  group->people = inside;
  group->list_is_complement = outside.size() <= inside.size();
  group->list.people = std::move(group->list_is_complement ? outside : inside);
  IntegerGram gram = CovariateGram(covariates_, num_covariates_, group->list.people);
  group->covariate_sums = ColumnSums(covariates_, num_covariates_, group->list.people);
  if (group->list_is_complement) {
    for (size_t i = 0; i < gram.size(); ++i) gram[i] = used_gram_[i] - gram[i];
    for (size_t c = 0; c < num_covariates_; ++c) {
      group->covariate_sums[c] = used_sums_[c] - group->covariate_sums[c];
    }
  }
  if (!group->list.empty()) {
    group->list.covariates = covariates_.Select(group->list.people, 0, num_covariates_);
  }
  FactorPseudoInverse(gram, covariates_, num_covariates_, *group);
  group->mask = std::move(mask);
  return group;
}

}  // namespace tallele

#include "tests/golden/reference_linear.h"

#include <cmath>

namespace tallele::golden {
namespace {

Real Dot(std::span<const Real> a, std::span<const Real> b) {
  Real sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Takes out what `basis` explains, twice, so that rounding does not bring it back.
void ProjectOut(const std::vector<std::vector<Real>>& basis, std::vector<Real>& column) {
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<Real>& q : basis) {
      const Real along = Dot(q, column);
      for (size_t i = 0; i < column.size(); ++i) column[i] -= along * q[i];
    }
  }
}

// Gram-Schmidt; columns that the others determine are left out.
std::vector<std::vector<Real>> Basis(std::span<const std::vector<double>> covariates, size_t n) {
  std::vector<std::vector<Real>> basis;
  basis.emplace_back(n, 1 / std::sqrt(static_cast<Real>(n)));
  for (const std::vector<double>& covariate : covariates) {
    std::vector<Real> column(covariate.begin(), covariate.end());
    Real mean = 0;
    for (const Real v : column) mean += v / static_cast<Real>(n);
    for (Real& v : column) v -= mean;
    const Real before = std::sqrt(Dot(column, column));
    ProjectOut(basis, column);
    const Real left = std::sqrt(Dot(column, column));
    if (before == 0 || left < 1e-9L * before) continue;
    for (Real& v : column) v /= left;
    basis.push_back(std::move(column));
  }
  return basis;
}

}  // namespace

ReferenceNull FitReferenceNull(std::span<const std::vector<double>> covariates,
                               std::span<const double> trait, std::span<const double> loco) {
  ReferenceNull null;
  const size_t n = trait.size();
  null.basis = Basis(covariates, n);
  const Real df = static_cast<Real>(n - null.basis.size());
  null.r.assign(trait.begin(), trait.end());
  ProjectOut(null.basis, null.r);
  null.scale = std::sqrt(Dot(null.r, null.r) / df);
  for (size_t i = 0; i < n; ++i) {
    null.r[i] = null.r[i] / null.scale - (loco.empty() ? 0 : static_cast<Real>(loco[i]));
  }
  null.mse = Dot(null.r, null.r) / df;
  return null;
}

ReferenceRow TestReferenceVariant(const ReferenceNull& null,
                                  std::span<const std::optional<Real>> dosage) {
  ReferenceRow row;
  Real sum = 0;
  for (const std::optional<Real>& g : dosage) {
    if (!g) continue;
    ++row.n;
    sum += *g;
  }
  const Real mean = sum / row.n;
  row.a1freq = mean / 2;
  std::vector<Real> g;
  for (const std::optional<Real>& value : dosage) g.push_back(value ? *value : mean);
  ProjectOut(null.basis, g);
  const Real v = Dot(g, g);
  const Real score = Dot(null.r, g);
  row.beta = null.scale * score / v;
  row.se = null.scale * std::sqrt(null.mse / v);
  row.chisq = score * score / (v * null.mse);
  return row;
}

}  // namespace tallele::golden

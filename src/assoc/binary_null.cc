#include "assoc/binary_null.h"

#include <algorithm>
#include <utility>

#include "assoc/logistic_null.h"
#include "assoc/null_firth.h"
#include "kernels/logistic_passes.h"

namespace tallele {
namespace {

// F = (basis -> z) G, with (z'Wz)^-1 = G G'.
std::vector<double> BasisFactor(const MaskedDesign& design, const LogisticFit& fit,
                                size_t num_basis) {
  const size_t r = design.rank;
  std::vector<double> factor(num_basis * r, 0);
  for (size_t c = 0; c < num_basis; ++c) {
    for (size_t e = 0; e < r; ++e) {
      double sum = 0;
      for (size_t k = 0; k < r; ++k) sum += design.factor[c * r + k] * fit.inverse_root[k * r + e];
      factor[c * r + e] = sum;
    }
  }
  return factor;
}

// z' X b: coefficients of the mask's own columns with the logits of X b there.
std::vector<double> OnDesign(const MaskedDesign& design, const CovariateBasis& basis,
                             std::span<const double> b) {
  const size_t m = design.num_people();
  std::vector<double> logits(m, 0);
  for (size_t c = 0; c < basis.rank(); ++c) {
    for (size_t i = 0; i < m; ++i) logits[i] += b[c] * basis.columns[c][design.base[i]];
  }
  std::vector<double> a(design.rank, 0);
  for (size_t e = 0; e < design.rank; ++e) {
    for (size_t i = 0; i < m; ++i) a[e] += design.z[e * m + i] * logits[i];
  }
  return a;
}

void FitNullFirthOf(CpuTarget target, const MaskedDesign& design, const std::vector<double>& loco,
                    std::vector<double> start, const BinaryOptions& options, BinaryPeople& people) {
  NullFirthInputs inputs;
  inputs.design = &design;
  inputs.y = people.y;
  inputs.offset = loco;
  inputs.start = std::move(start);
  NullFirthFit firth = FitNullFirth(target, inputs, options.null_firth);
  people.firth_problem = std::move(firth.problem);
  people.firth_offset = std::move(firth.offset);
  if (!people.firth_problem.empty()) return;
  const size_t num_basis = design.factor.size() / design.rank;
  people.firth_coefficients.assign(num_basis, 0);
  for (size_t c = 0; c < num_basis; ++c) {
    for (size_t e = 0; e < design.rank; ++e) {
      people.firth_coefficients[c] += design.factor[c * design.rank + e] * firth.coefficients[e];
    }
  }
  const size_t m = people.y.size();
  people.firth_p.resize(m);
  people.firth_w.resize(m);
  LogisticProbabilities(target, people.firth_offset.data(), m, people.firth_p.data(),
                        people.firth_w.data());
  people.firth_deviance =
      LogisticDeviance(target, nullptr, people.firth_offset.data(), people.y.data(), m, 0);
}

}  // namespace

void FillBinaryColumn(const CovariateBasis& basis, const BinaryFit& fit, size_t column,
                      std::span<double> base_values) {
  const size_t k = basis.rank();
  const std::vector<uint32_t>& base = fit.null.people->design->base;
  std::fill(base_values.begin(), base_values.end(), 0.0);
  for (size_t i = 0; i < base.size(); ++i) {
    base_values[base[i]] = column < k    ? fit.weights[i] * basis.columns[column][base[i]]
                           : column == k ? fit.residual[i]
                                         : fit.null.people->y[i];
  }
}

BinaryFit FitBinaryNull(CpuTarget target, const CovariateBasis& basis,
                        const std::shared_ptr<const MaskedDesign>& design,
                        const BinaryFitRequest& request, const BinaryOptions& options) {
  BinaryFit out;
  out.null.trait = request.trait;
  out.null.rank = design->rank;
  for (const double y : request.y) out.null.num_cases += y > 0.5;
  std::vector<double> loco = request.loco;
  if (loco.empty()) loco.assign(request.y.size(), 0);
  auto people = std::make_shared<BinaryPeople>();
  people->design = design;
  people->y = request.y;
  out.null.people = people;
  LogisticFit fit = FitLogisticNull(target, *design, request.y, loco, options.null_iterations);
  if (!fit.converged()) {
    out.null.failed = true;
    out.problem = std::move(fit.problem);
    return out;
  }
  out.null.factor = BasisFactor(*design, fit, basis.rank());
  out.residual = request.y;
  for (size_t i = 0; i < out.residual.size(); ++i) out.residual[i] -= fit.p[i];
  out.weights = std::move(fit.w);
  if (options.correction == BinaryCorrection::kFirthApproximate) {
    FitNullFirthOf(target, *design, loco,
                   request.firth_start.empty() ? fit.coefficients
                                               : OnDesign(*design, basis, request.firth_start),
                   options, *people);
  } else if (options.correction == BinaryCorrection::kSaddlepoint) {
    people->eta = std::move(fit.eta);
  } else if (options.correction == BinaryCorrection::kFirthExact) {
    people->loco = std::move(loco);
    people->coefficients = std::move(fit.coefficients);
  }
  return out;
}

}  // namespace tallele

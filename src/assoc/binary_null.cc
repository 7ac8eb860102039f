#include "assoc/binary_null.h"

#include <utility>

#include "assoc/logistic_null.h"
#include "assoc/null_firth.h"

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

std::vector<std::vector<double>> ColumnsOf(const CovariateBasis& basis, const MaskedDesign& design,
                                           const LogisticFit& fit, const std::vector<double>& y) {
  const size_t k = basis.rank();
  std::vector<std::vector<double>> columns(k + 2, std::vector<double>(basis.num_people, 0));
  for (size_t c = 0; c < k; ++c) {
    for (size_t i = 0; i < design.num_people(); ++i) {
      columns[c][design.base[i]] = fit.w[i] * basis.columns[c][design.base[i]];
    }
  }
  for (size_t i = 0; i < design.num_people(); ++i) {
    columns[k][design.base[i]] = y[i] - fit.p[i];
    columns[k + 1][design.base[i]] = y[i];
  }
  return columns;
}

void FitNullFirthOf(CpuTarget target, const MaskedDesign& design, const std::vector<double>& loco,
                    const LogisticFit& fit, const BinaryOptions& options, BinaryPeople& people) {
  NullFirthInputs inputs;
  inputs.design = &design;
  inputs.y = people.y;
  inputs.offset = loco;
  inputs.start = fit.coefficients;
  NullFirthFit firth = FitNullFirth(target, inputs, options.null_firth);
  people.firth_problem = std::move(firth.problem);
  people.firth_offset = std::move(firth.offset);
}

}  // namespace

BinaryFit FitBinaryNull(CpuTarget target, const CovariateBasis& basis,
                        const std::shared_ptr<const MaskedDesign>& design,
                        const BinaryFitRequest& request, const BinaryOptions& options) {
  BinaryFit out;
  out.null.trait = request.trait;
  out.null.rank = design->rank;
  for (const double y : request.y) out.null.num_cases += y > 0.5;
  std::vector<double> loco = request.loco;
  if (loco.empty()) loco.assign(request.y.size(), 0);
  LogisticFit fit = FitLogisticNull(target, *design, request.y, loco, options.null_iterations);
  if (!fit.converged()) {
    out.null.failed = true;
    out.problem = std::move(fit.problem);
    return out;
  }
  out.null.factor = BasisFactor(*design, fit, basis.rank());
  out.columns = ColumnsOf(basis, *design, fit, request.y);
  auto people = std::make_shared<BinaryPeople>();
  people->design = design;
  people->y = request.y;
  if (options.correction == BinaryCorrection::kFirthApproximate) {
    FitNullFirthOf(target, *design, loco, fit, options, *people);
  } else if (options.correction == BinaryCorrection::kSaddlepoint) {
    people->eta = std::move(fit.eta);
  } else if (options.correction == BinaryCorrection::kFirthExact) {
    people->loco = std::move(loco);
    people->coefficients = std::move(fit.coefficients);
  }
  out.null.people = std::move(people);
  return out;
}

}  // namespace tallele

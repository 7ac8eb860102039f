#include "assoc/exact_firth.h"

#include <cmath>
#include <vector>

#include "assoc/penalised_logistic.h"

namespace tallele {
namespace {

// The columns of the design have length 1, so their scores are smaller by the root of the number of
// people than those of a genotype: REGENIE's tolerance alone stops short of the maximum.
constexpr double kTighter = 1e-3;

struct StagedFit {
  PenalisedFit fit;
  FirthStage stage = FirthStage::kFailed;
};

StagedFit FitInStages(const PenalisedModel& model, const Eigen::VectorXd& start,
                      const FirthLimits& limits) {
  PenalisedLimits own;
  own.max_iterations = limits.max_iterations / 2;
  own.max_step = limits.max_step;
  own.gradient_tolerance = kTighter * limits.gradient_tolerance;
  own.max_halvings = limits.max_halvings;
  own.max_inner_iterations = limits.max_inner_iterations;
  StagedFit out{FitByPseudoData(model, start, own), FirthStage::kPseudoData};
  if (out.fit.converged) return out;
  own.max_iterations = limits.max_iterations;
  out = {FitByNewton(model, start, own), FirthStage::kNewton};
  if (!out.fit.converged) out.stage = FirthStage::kFailed;
  return out;
}

}  // namespace

FirthEstimate FitExactFirth(CpuTarget target, const ExactFirthInputs& inputs,
                            const FirthLimits& limits) {
  const size_t m = inputs.y.size();
  const size_t rank = inputs.design->rank;
  std::vector<double> columns(inputs.design->z);
  columns.insert(columns.end(), inputs.genotype.begin(), inputs.genotype.end());
  PenalisedModel model{target,
                       ColumnMatrix(columns.data(), static_cast<Eigen::Index>(m),
                                    static_cast<Eigen::Index>(rank + 1)),
                       inputs.y, inputs.offset, static_cast<Eigen::Index>(rank)};
  Eigen::VectorXd start = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rank + 1));
  start.head(static_cast<Eigen::Index>(rank)) = AsVector(inputs.start);
  const StagedFit null = FitInStages(model, start, limits);
  if (null.stage == FirthStage::kFailed) return {};
  model.num_free = model.z.cols();
  const StagedFit full = FitInStages(model, null.fit.a, limits);
  if (full.stage == FirthStage::kFailed) return {};
  FirthEstimate out;
  const Eigen::Index last = model.z.cols() - 1;
  out.beta = full.fit.a[last];
  out.se = full.fit.inverse_root.row(last).norm();
  out.lrt = null.fit.deviance - full.fit.deviance;
  out.stage = out.lrt >= 0 && std::isfinite(out.lrt) ? full.stage : FirthStage::kFailed;
  return out;
}

}  // namespace tallele

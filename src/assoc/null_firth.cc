#include "assoc/null_firth.h"

#include <algorithm>
#include <utility>

#include "assoc/penalised_logistic.h"

namespace tallele {
namespace {

// REGENIE's pseudo-data pass takes the same limits as the attempt that it follows.
constexpr int kMaxPseudoIterations = 50;

class NullFirthFitter {
 public:
  NullFirthFitter(CpuTarget target, const NullFirthInputs& inputs, const NullFirthLimits& limits)
      : inputs_(inputs),
        limits_(limits),
        model_{target, ColumnsOf(*inputs.design), inputs.y, inputs.offset,
               static_cast<Eigen::Index>(inputs.design->rank)} {}

  NullFirthFit Fit() {
    const Eigen::VectorXd given = AsVector(inputs_.start);
    const Eigen::VectorXd intercept = InterceptStart();
    const PenalisedLimits first = LimitsOf(1, 1, true);
    if (Attempt(NullFirthAttempt::kFromLogistic, given, first)) return std::move(fit_);
    if (Attempt(NullFirthAttempt::kFromIntercept, intercept, first)) return std::move(fit_);
    if (limits_.retries) {
      const auto factor = limits_.retry_iteration_factor;
      const PenalisedLimits small = LimitsOf(factor, limits_.retry_step_divisor, true);
      if (Attempt(NullFirthAttempt::kSmallSteps, intercept, small)) return std::move(fit_);
      const PenalisedLimits patient = LimitsOf(factor, limits_.retry_step_divisor, false);
      if (Attempt(NullFirthAttempt::kWithoutEarlyStop, given, patient)) return std::move(fit_);
    }
    fit_.problem =
        "the null Firth model did not converge, so its candidates are not corrected. Try "
        "--maxstep-null and --maxiter-null, or leave out covariates with rare levels";
    return std::move(fit_);
  }

 private:
  PenalisedLimits LimitsOf(int factor, double divisor, bool early_stop) const {
    PenalisedLimits limits;
    limits.max_iterations = limits_.max_iterations * factor;
    limits.max_step = limits_.max_step / divisor;
    limits.gradient_tolerance = limits_.gradient_tolerance;
    limits.max_halvings = limits_.max_halvings;
    limits.halving_scale = limits_.halving_scale;
    limits.stop_when_score_grows = early_stop;
    return limits;
  }

  Eigen::VectorXd InterceptStart() const {
    const double mean = AsVector(inputs_.offset).mean();
    return -mean * model_.z.transpose() * Eigen::VectorXd::Ones(model_.z.rows());
  }

  bool Attempt(NullFirthAttempt attempt, const Eigen::VectorXd& start,
               const PenalisedLimits& limits) {
    if (Take(attempt, FitByNewton(model_, start, limits))) return true;
    PenalisedLimits pseudo = limits;
    pseudo.max_iterations = std::min(limits.max_iterations, kMaxPseudoIterations);
    return Take(NullFirthAttempt::kPseudoData, FitByPseudoData(model_, start, pseudo));
  }

  bool Take(NullFirthAttempt attempt, const PenalisedFit& fit) {
    if (!fit.converged) return false;
    fit_.attempt = attempt;
    fit_.iterations = fit.iterations;
    fit_.coefficients.assign(fit.a.data(), fit.a.data() + fit.a.size());
    const Eigen::VectorXd offset = AsVector(inputs_.offset) + model_.z * fit.a;
    fit_.offset.assign(offset.data(), offset.data() + offset.size());
    return true;
  }

  const NullFirthInputs& inputs_;
  const NullFirthLimits& limits_;
  PenalisedModel model_;
  NullFirthFit fit_;
};

}  // namespace

NullFirthFit FitNullFirth(CpuTarget target, const NullFirthInputs& inputs,
                          const NullFirthLimits& limits) {
  return NullFirthFitter(target, inputs, limits).Fit();
}

}  // namespace tallele

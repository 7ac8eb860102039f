#include "assoc/logistic_null.h"

#include <algorithm>
#include <cmath>

#include "assoc/logistic_algebra.h"
#include "kernels/logistic_passes.h"

namespace tallele {
namespace {

constexpr double kStillLogits = 1e-9;
// Steps that still move a logit by so much at the end, with a vanishing score, never end.
constexpr double kRunawayStep = 0.05;
constexpr double kCertainLogit = 12;
// A person with less adds nothing to the information: a logit beyond 30.
constexpr double kVanishingWeight = 1e-13;
constexpr int kMaxHalvings = 30;
constexpr int kInterceptSteps = 100;
// A step is good when the deviance does not rise beyond its rounding.
constexpr double kDevianceRounding = 1e-12;

// c with sum(y) = sum(logistic(offset + c)): bisection's bracket, Newton's steps.
double FitIntercept(CpuTarget target, std::span<const double> y, std::span<const double> offset) {
  const size_t m = y.size();
  double cases = 0;
  double mean = 0;
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < m; ++i) {
    cases += y[i];
    mean += offset[i];
    low = std::min(low, offset[i]);
    high = std::max(high, offset[i]);
  }
  const double n = static_cast<double>(m);
  mean /= n;
  const double logit = LogOf(cases / (n - cases));
  double left = logit - high;
  double right = logit - low;
  double c = logit - mean;
  std::vector<double> eta(m), p(m), w(m);
  for (int step = 0; step < kInterceptSteps && right - left > 1e-12; ++step) {
    for (size_t i = 0; i < m; ++i) eta[i] = offset[i] + c;
    LogisticProbabilities(target, eta.data(), m, p.data(), w.data());
    double expected = 0;
    double slope = 0;
    for (size_t i = 0; i < m; ++i) {
      expected += p[i];
      slope += w[i];
    }
    (expected > cases ? right : left) = c;
    const double moved = c + (cases - expected) / slope;
    const double next = moved > left && moved < right ? moved : 0.5 * (left + right);
    if (std::fabs(next - c) < 1e-12) break;
    c = next;
  }
  return c;
}

class LogisticFitter {
 public:
  LogisticFitter(CpuTarget target, const MaskedDesign& design, std::span<const double> y,
                 std::span<const double> offset)
      : target_(target), z_(ColumnsOf(design)), y_(y), offset_(offset) {}

  LogisticFit Fit(int max_iterations) {
    Start();
    for (int step = 1; step <= max_iterations; ++step) {
      fit_.iterations = step;
      if (!SolveStep()) return GiveUp();
      if (!TakeStep()) return GiveUp();
      if (moved_ < kStillLogits) return Finish();
    }
    return GiveUp();
  }

 private:
  void SetState(const Eigen::VectorXd& a) {
    const size_t m = y_.size();
    Eigen::Map<Eigen::VectorXd>(fit_.eta.data(), z_.rows()) = AsVector(offset_) + z_ * a;
    fit_.deviance = LogisticDeviance(target_, nullptr, fit_.eta.data(), y_.data(), m, 0);
  }

  void Start() {
    const size_t m = y_.size();
    fit_.eta.resize(m);
    fit_.p.resize(m);
    fit_.w.resize(m);
    const double c = FitIntercept(target_, y_, offset_);
    a_ = c * z_.transpose() * Eigen::VectorXd::Ones(z_.rows());
    SetState(a_);
  }

  bool SolveStep() {
    const size_t m = y_.size();
    LogisticProbabilities(target_, fit_.eta.data(), m, fit_.p.data(), fit_.w.data());
    double log_det = 0;
    if (!InvertRoot(WeightedGram(z_, fit_.w), &root_, &log_det)) return false;
    const Eigen::VectorXd score = z_.transpose() * (AsVector(y_) - AsVector(fit_.p));
    step_ = root_ * (root_.transpose() * score);
    return step_.allFinite();
  }

  bool TakeStep() {
    const double before = fit_.deviance;
    const std::vector<double> old_eta = fit_.eta;
    double length = 1;
    for (int halving = 0; halving <= kMaxHalvings; ++halving, length *= 0.5) {
      const Eigen::VectorXd a = a_ + length * step_;
      SetState(a);
      if (fit_.deviance <= before + kDevianceRounding * std::fabs(before)) {
        a_ = a;
        moved_ = (AsVector(fit_.eta) - AsVector(old_eta)).lpNorm<Eigen::Infinity>();
        return true;
      }
    }
    return false;
  }

  LogisticFit Finish() {
    if (!SolveStep()) return GiveUp();
    const auto informative =
        std::count_if(fit_.w.begin(), fit_.w.end(), [](double w) { return w > kVanishingWeight; });
    if (informative <= z_.cols()) {
      fit_.problem =
          "the predictions are so large that they leave no doubt about anybody's class. "
          "Are they on the logit scale?";
      return std::move(fit_);
    }
    const Eigen::Index r = z_.cols();
    fit_.coefficients.assign(a_.data(), a_.data() + r);
    fit_.inverse_root.resize(static_cast<size_t>(r * r));
    for (Eigen::Index i = 0; i < r; ++i) {
      for (Eigen::Index j = 0; j < r; ++j) {
        fit_.inverse_root[static_cast<size_t>(i * r + j)] = root_(i, j);
      }
    }
    return std::move(fit_);
  }

  LogisticFit GiveUp() {
    const auto certain = std::count_if(fit_.eta.begin(), fit_.eta.end(),
                                       [](double eta) { return std::fabs(eta) > kCertainLogit; });
    if (certain > 0 && moved_ > kRunawayStep) {
      fit_.problem = "the covariates separate cases from controls (for " + std::to_string(certain) +
                     " people they leave no doubt), so there is no null model. Leave out the "
                     "covariate that does it, or merge its rare levels";
    } else {
      fit_.problem = "the null logistic model did not converge in " +
                     std::to_string(fit_.iterations) + " steps";
    }
    return std::move(fit_);
  }

  CpuTarget target_;
  ColumnMatrix z_;
  std::span<const double> y_;
  std::span<const double> offset_;
  LogisticFit fit_;
  Eigen::VectorXd a_;
  Eigen::VectorXd step_;
  Eigen::MatrixXd root_;
  double moved_ = 1;
};

}  // namespace

LogisticFit FitLogisticNull(CpuTarget target, const MaskedDesign& design, std::span<const double> y,
                            std::span<const double> offset, int max_iterations) {
  return LogisticFitter(target, design, y, offset).Fit(max_iterations);
}

}  // namespace tallele

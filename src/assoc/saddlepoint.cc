#include "assoc/saddlepoint.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/logistic_passes.h"
#include "kernels/normal_tail.h"

namespace tallele {
namespace {

constexpr int kMaxRootSteps = 200;
constexpr double kRootTolerance = 1e-9;
constexpr double kLargestPoint = 1e9;  // in standard deviations of S
const double kNegligible = -20 * 2.302585092994046;

// Cumulants of S / sd(S).
class Cumulants {
 public:
  Cumulants(CpuTarget target, const SaddlepointInputs& inputs)
      : target_(target), eta_(inputs.eta), x_(inputs.x.begin(), inputs.x.end()) {
    const double sd = std::sqrt(inputs.variance);
    for (double& x : x_) x /= sd;
    const LogisticSums at = Sums(0);
    mean_ = at.xp;
    if (inputs.carriers_only) rest_ = std::max(0.0, 1 - at.xxw);
    at_zero_ = SumSoftplus(target_, x_.data(), eta_.data(), x_.size(), 0);
  }

  double Value(double t) const {
    return SumSoftplus(target_, x_.data(), eta_.data(), x_.size(), t) - at_zero_ - t * mean_ +
           0.5 * t * t * rest_;
  }

  struct Slopes {
    double first;
    double second;
  };
  Slopes SlopesAt(double t) const {
    const LogisticSums at = Sums(t);
    return {at.xp - mean_ + t * rest_, at.xxw + rest_};
  }

  // The largest value that the standardised S can take, and minus the smallest.
  double Reach(bool upper) const {
    if (rest_ > 0) return INFINITY;
    double reach = upper ? -mean_ : mean_;
    for (const double x : x_) reach += upper ? std::max(x, 0.0) : -std::min(x, 0.0);
    return reach;
  }

 private:
  LogisticSums Sums(double t) const {
    return SumLogistic(target_, x_.data(), eta_.data(), x_.size(), t);
  }

  CpuTarget target_;
  std::span<const double> eta_;
  std::vector<double> x_;
  double mean_ = 0;
  double rest_ = 0;
  double at_zero_ = 0;
};

// One tail: P(sign * S >= s), s > 0.
class Tail {
 public:
  Tail(const Cumulants& cumulants, double sign, double s)
      : cumulants_(cumulants), sign_(sign), s_(s) {}

  // ln of its probability; nothing when the saddlepoint cannot be found.
  std::optional<double> LogProbability() const {
    const std::optional<double> root = Root();
    if (!root) return {};
    const double t = *root;
    const double exponent = t * s_ - cumulants_.Value(sign_ * t);
    const double v = t * std::sqrt(cumulants_.SlopesAt(sign_ * t).second);
    if (!(exponent > 0) || !(v > 0) || !std::isfinite(exponent)) return {};
    const double w = std::sqrt(2 * exponent);
    return NormalLogUpperTail(w + std::log(v / w) / w);
  }

  // True when Chernoff's bound, or the reach of S, puts the tail below exp(limit).
  bool IsBelow(double limit) const {
    if (s_ > cumulants_.Reach(sign_ > 0)) return true;
    for (double t = 0.25; t < kLargestPoint; t *= 2) {
      if (cumulants_.Value(sign_ * t) - t * s_ < limit) return true;
    }
    return false;
  }

 private:
  // t > 0 with K'(sign t) = sign s: Newton's steps inside a bracket.
  std::optional<double> Root() const {
    if (!(s_ < cumulants_.Reach(sign_ > 0))) return {};
    double low = 0;
    double high = 1;
    while (Excess(high).first < 0) {
      low = high;
      high *= 2;
      if (high > kLargestPoint) return {};
    }
    double t = s_ > low && s_ < high ? s_ : 0.5 * (low + high);
    for (int step = 0; step < kMaxRootSteps; ++step) {
      const Cumulants::Slopes at = Excess(t);
      (at.first < 0 ? low : high) = t;
      double next = t - at.first / at.second;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const double moved = std::fabs(next - t);
      t = next;
      if (moved <= kRootTolerance * t) return t;
    }
    return {};
  }

  // K' - s and K'' as functions of |t|.
  Cumulants::Slopes Excess(double t) const {
    const Cumulants::Slopes at = cumulants_.SlopesAt(sign_ * t);
    return {sign_ * at.first - s_, at.second};
  }

  const Cumulants& cumulants_;
  double sign_;
  double s_;
};

}  // namespace

SaddlepointResult TestBySaddlepoint(CpuTarget target, const SaddlepointInputs& inputs) {
  SaddlepointResult result;
  const Cumulants cumulants(target, inputs);
  const double s = std::fabs(inputs.score) / std::sqrt(inputs.variance);
  const double sign = inputs.score < 0 ? -1 : 1;
  if (!(s > 0)) return result;
  const std::optional<double> near = Tail(cumulants, sign, s).LogProbability();
  if (!near) return result;
  const Tail far_tail(cumulants, -sign, s);
  if (const std::optional<double> far = far_tail.LogProbability()) {
    const double larger = std::max(*near, *far);
    result.log_p = larger + std::log1p(std::exp(std::min(*near, *far) - larger));
    result.outcome = SaddlepointOutcome::kBothTails;
  } else if (far_tail.IsBelow(*near + kNegligible)) {
    result.log_p = *near;
    result.outcome = SaddlepointOutcome::kNearTailAlone;
  }
  if (!(result.log_p <= 0)) result.outcome = SaddlepointOutcome::kFailed;
  return result;
}

}  // namespace tallele

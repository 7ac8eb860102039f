#include "assoc/variant_firth.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/logistic_passes.h"

namespace tallele {
namespace {

constexpr int kSlowStep = 15;
constexpr double kSlowChange = 0.1;
constexpr double kSmallestInformation = 1e-8;

class VariantFirthFitter {
 public:
  VariantFirthFitter(CpuTarget target, const FirthCandidate& candidate, const FirthLimits& limits)
      : target_(target), candidate_(candidate), limits_(limits) {
    for (size_t i = 0; i < candidate.x.size(); ++i) case_sum_ += candidate.x[i] * candidate.y[i];
  }

  FirthEstimate Fit() {
    start_ = Sums(0);
    if (!IsValid(start_)) return {};
    if (FitByPseudoData()) return Estimate(FirthStage::kPseudoData);
    if (FitByNewton()) return Estimate(FirthStage::kNewton);
    return {};
  }

 private:
  LogisticSums Sums(double b) const {
    return SumLogistic(target_, candidate_.x.data(), candidate_.offset.data(), candidate_.x.size(),
                       b);
  }

  static bool IsValid(const LogisticSums& sums) {
    return sums.xxw > kSmallestInformation && std::isfinite(sums.xp) && std::isfinite(sums.xxxw);
  }

  // sum of x y*, where y* = y + h (0.5 - p) and h = x^2 w / I.
  double ResponseSum(const LogisticSums& sums) const { return case_sum_ + sums.xxxw / sums.xxw; }

  double ModifiedScore(const LogisticSums& sums) const { return ResponseSum(sums) - sums.xp; }

  double Capped(double step) const { return std::clamp(step, -limits_.max_step, limits_.max_step); }

  double Deviance(double b, const LogisticSums& sums) const {
    return LogisticDeviance(target_, candidate_.x.data(), candidate_.offset.data(),
                            candidate_.y.data(), candidate_.x.size(), b) -
           LogOf(sums.xxw);
  }

  int MaxPseudoIterations() const {
    const int half = limits_.max_iterations / 2;
    return candidate_.carriers_only ? half : std::min(half, limits_.max_pseudo_iterations);
  }

  bool FitByPseudoData() {
    b_ = 0;
    at_ = start_;
    double last = 0;
    const int most = MaxPseudoIterations();
    for (int outer = 1; outer <= most; ++outer) {
      if (std::fabs(ModifiedScore(at_)) < limits_.gradient_tolerance && outer >= 2) return true;
      if (outer == kSlowStep && std::fabs(b_ - last) > kSlowChange) return false;
      last = b_;
      if (!FitResponse(ResponseSum(at_))) return false;
    }
    return false;
  }

  // Ordinary Newton steps with the response held fixed: sum of x y* = `response`.
  bool FitResponse(double response) {
    double last = INFINITY;
    for (int inner = 0; inner < limits_.max_inner_iterations; ++inner) {
      const double step = Capped((response - at_.xp) / at_.xxw);
      if (std::fabs(step) > last) return false;
      last = std::fabs(step);
      b_ += step;
      at_ = Sums(b_);
      if (!IsValid(at_)) return false;
      if (std::fabs(response - at_.xp) < limits_.gradient_tolerance) break;
    }
    return true;
  }

  bool FitByNewton() {
    b_ = 0;
    at_ = start_;
    double deviance = Deviance(b_, at_);
    for (int iteration = 1; iteration <= limits_.max_iterations / 2; ++iteration) {
      const double score = ModifiedScore(at_);
      if (std::fabs(score) < limits_.gradient_tolerance && iteration >= 2) return true;
      double step = Capped(score / at_.xxw);
      bool accepted = false;
      for (int halving = 0; halving < limits_.max_halvings && !accepted; ++halving, step *= 0.5) {
        const LogisticSums trial = Sums(b_ + step);
        if (!IsValid(trial)) return false;
        const double there = Deviance(b_ + step, trial);
        if (!(there < deviance)) continue;
        accepted = true;
        b_ += step;
        at_ = trial;
        deviance = there;
      }
      if (!accepted) return false;
    }
    return false;
  }

  FirthEstimate Estimate(FirthStage stage) const {
    FirthEstimate out;
    out.beta = b_;
    out.se = 1 / std::sqrt(at_.xxw);
    out.lrt = Deviance(0, start_) - Deviance(b_, at_);
    out.stage = out.lrt >= 0 && std::isfinite(out.lrt) ? stage : FirthStage::kFailed;
    return out;
  }

  CpuTarget target_;
  const FirthCandidate& candidate_;
  const FirthLimits& limits_;
  double case_sum_ = 0;
  LogisticSums start_;
  double b_ = 0;
  LogisticSums at_;
};

}  // namespace

FirthEstimate FitVariantFirth(CpuTarget target, const FirthCandidate& candidate,
                              const FirthLimits& limits) {
  return VariantFirthFitter(target, candidate, limits).Fit();
}

}  // namespace tallele

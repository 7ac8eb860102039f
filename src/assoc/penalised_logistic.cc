#include "assoc/penalised_logistic.h"

#include <algorithm>
#include <cmath>

#include "kernels/logistic_passes.h"

namespace tallele {
namespace {

constexpr int kScoreGrowthPatience = 25;
// REGENIE gives pseudo data up when its fifteenth step still moves by so much.
constexpr int kSlowStep = 15;
constexpr double kSlowChange = 0.1;

// The model at one point.
class Point {
 public:
  explicit Point(const PenalisedModel& model)
      : model_(&model), eta_(Size()), p_(Size()), w_(Size()) {}

  // False when the information is singular or something is not finite.
  bool MoveTo(const Eigen::VectorXd& a) {
    a_ = a;
    SetProbabilities();
    if (!InvertRoot(WeightedGram(model_->z, w_), &root_, &log_det_)) return false;
    deviance_ =
        LogisticDeviance(model_->target, nullptr, eta_.data(), model_->y.data(), Size(), 0) -
        log_det_;
    return std::isfinite(deviance_);
  }

  // y + h (0.5 - p).
  std::vector<double> PseudoResponse() const {
    std::vector<double> response = Leverages(model_->z, root_, w_);
    for (size_t i = 0; i < response.size(); ++i) {
      response[i] = model_->y[i] + response[i] * (0.5 - p_[i]);
    }
    return response;
  }

  Eigen::VectorXd ScoreOf(std::span<const double> response) const {
    return model_->z.leftCols(model_->num_free).transpose() * (AsVector(response) - AsVector(p_));
  }

  // Newton's step over the free columns.
  bool Step(const Eigen::VectorXd& score, Eigen::VectorXd* step) const {
    if (model_->num_free == model_->z.cols()) {
      *step = root_ * (root_.transpose() * score);
    } else {
      const Eigen::MatrixXd information =
          WeightedGram(ColumnMatrix(model_->z.data(), model_->z.rows(), model_->num_free), w_);
      Eigen::MatrixXd root;
      double log_det = 0;
      if (!InvertRoot(information, &root, &log_det)) return false;
      *step = root * (root.transpose() * score);
    }
    return step->allFinite();
  }

  // Only probabilities and weights: what an ordinary logistic step needs.
  void SetProbabilities(const Eigen::VectorXd& a) {
    a_ = a;
    SetProbabilities();
  }
  bool RefreshInformation() { return InvertRoot(WeightedGram(model_->z, w_), &root_, &log_det_); }

  const Eigen::VectorXd& a() const { return a_; }
  double deviance() const { return deviance_; }
  const Eigen::MatrixXd& root() const { return root_; }

 private:
  size_t Size() const { return model_->y.size(); }
  void SetProbabilities() {
    Eigen::Map<Eigen::VectorXd>(eta_.data(), model_->z.rows()) =
        AsVector(model_->offset) + model_->z * a_;
    LogisticProbabilities(model_->target, eta_.data(), Size(), p_.data(), w_.data());
  }

  const PenalisedModel* model_;
  Eigen::VectorXd a_;
  std::vector<double> eta_, p_, w_;
  Eigen::MatrixXd root_;
  double log_det_ = 0;
  double deviance_ = 0;
};

double Largest(const Eigen::VectorXd& v) { return v.lpNorm<Eigen::Infinity>(); }

Eigen::VectorXd Capped(Eigen::VectorXd step, double cap) {
  const double largest = Largest(step);
  if (largest > cap) step *= cap / largest;
  return step;
}

Eigen::VectorXd Moved(const Eigen::VectorXd& a, const Eigen::VectorXd& step) {
  Eigen::VectorXd out = a;
  out.head(step.size()) += step;
  return out;
}

PenalisedFit Finished(const Point& point, int iterations) {
  PenalisedFit fit;
  fit.converged = true;
  fit.a = point.a();
  fit.deviance = point.deviance();
  fit.inverse_root = point.root();
  fit.iterations = iterations;
  return fit;
}

PenalisedFit Failed(int iterations) {
  PenalisedFit fit;
  fit.iterations = iterations;
  return fit;
}

// True once the largest score has not fallen below its best for more than the patience.
class GrowthWatch {
 public:
  bool Grows(double score) {
    worse_ = score < best_ ? 0 : worse_ + 1;
    best_ = std::min(best_, score);
    return worse_ > kScoreGrowthPatience;
  }

 private:
  double best_ = INFINITY;
  int worse_ = 0;
};

// An ordinary logistic fit of `response` from where `point` stands.
bool FitResponse(Point& point, std::span<const double> response, const PenalisedLimits& limits) {
  double last = INFINITY;
  for (int inner = 0; inner < limits.max_inner_iterations; ++inner) {
    const Eigen::VectorXd score = point.ScoreOf(response);
    if (inner > 0 && Largest(score) < limits.gradient_tolerance) return true;
    Eigen::VectorXd step;
    if (!point.Step(score, &step)) return false;
    step = Capped(step, limits.max_step);
    const double length = Largest(step);
    if (length > last) return false;
    last = length;
    point.SetProbabilities(Moved(point.a(), step));
    if (!point.RefreshInformation()) return false;
  }
  return true;
}

}  // namespace

PenalisedFit FitByNewton(const PenalisedModel& model, const Eigen::VectorXd& start,
                         const PenalisedLimits& limits) {
  Point point(model);
  Point trial(model);
  GrowthWatch watch;
  if (!point.MoveTo(start)) return Failed(0);
  for (int iteration = 1; iteration <= limits.max_iterations; ++iteration) {
    const Eigen::VectorXd score = point.ScoreOf(point.PseudoResponse());
    const double largest = Largest(score);
    if (!std::isfinite(largest)) return Failed(iteration);
    if (largest < limits.gradient_tolerance && iteration >= 2) return Finished(point, iteration);
    if (limits.stop_when_score_grows && watch.Grows(largest)) return Failed(iteration);
    Eigen::VectorXd step;
    if (!point.Step(score, &step)) return Failed(iteration);
    step = Capped(step, limits.max_step);
    bool accepted = false;
    for (int halving = 0; halving < limits.max_halvings && !accepted; ++halving) {
      if (!trial.MoveTo(Moved(point.a(), step))) return Failed(iteration);
      accepted = trial.deviance() < point.deviance();
      step *= limits.halving_scale;
    }
    // At the maximum itself a step can lower the deviance by less than its rounding.
    if (!accepted) {
      return largest < limits.gradient_tolerance ? Finished(point, iteration) : Failed(iteration);
    }
    std::swap(point, trial);
  }
  return Failed(limits.max_iterations);
}

PenalisedFit FitByPseudoData(const PenalisedModel& model, const Eigen::VectorXd& start,
                             const PenalisedLimits& limits) {
  Point point(model);
  Eigen::VectorXd last = start;
  if (!point.MoveTo(start)) return Failed(0);
  for (int outer = 1; outer <= limits.max_iterations; ++outer) {
    const std::vector<double> response = point.PseudoResponse();
    const double largest = Largest(point.ScoreOf(response));
    if (!std::isfinite(largest)) return Failed(outer);
    if (largest < limits.gradient_tolerance && outer >= 2) return Finished(point, outer);
    if (outer == kSlowStep && Largest(point.a() - last) > kSlowChange) return Failed(outer);
    last = point.a();
    if (!FitResponse(point, response, limits)) return Failed(outer);
    if (!point.MoveTo(Eigen::VectorXd(point.a()))) return Failed(outer);
  }
  return Failed(limits.max_iterations);
}

}  // namespace tallele

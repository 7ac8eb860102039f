#ifndef TALLELE_ASSOC_PENALISED_LOGISTIC_H_
#define TALLELE_ASSOC_PENALISED_LOGISTIC_H_

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "assoc/logistic_algebra.h"
#include "kernels/cpu_target.h"

namespace tallele {

// Logistic regression with Firth's penalty: maximises  l(a) + 1/2 ln det(z'Wz).
//
// The first `num_free` columns have free coefficients; the others count in the penalty with the
// coefficient that they start with. That is how the likelihood ratio test of one column is made:
// its null model keeps the column in the information matrix.
struct PenalisedModel {
  CpuTarget target;
  ColumnMatrix z;                  // [m x columns]
  std::span<const double> y;       // [m]
  std::span<const double> offset;  // [m]
  Eigen::Index num_free;
};

struct PenalisedLimits {
  int max_iterations = 1000;
  double max_step = 25;
  double gradient_tolerance = 5e-5;
  int max_halvings = 25;
  double halving_scale = 0.5;
  bool stop_when_score_grows = false;  // its largest entry not smaller than ever for 25 steps
  int max_inner_iterations = 25;       // pseudo data alone
};

struct PenalisedFit {
  bool converged = false;
  Eigen::VectorXd a;             // [columns]
  double deviance = 0;           // -2 l - ln det
  Eigen::MatrixXd inverse_root;  // G with information^-1 = G G', all columns
  int iterations = 0;
};

// Newton steps on the modified score, capped, halved until the penalised deviance falls.
PenalisedFit FitByNewton(const PenalisedModel& model, const Eigen::VectorXd& start,
                         const PenalisedLimits& limits);

// Ordinary logistic fits of the responses y + h (0.5 - p), whose leverages h and probabilities p
// are those of the last fit: the modified score is zero where they stand still.
PenalisedFit FitByPseudoData(const PenalisedModel& model, const Eigen::VectorXd& start,
                             const PenalisedLimits& limits);

}  // namespace tallele

#endif  // TALLELE_ASSOC_PENALISED_LOGISTIC_H_

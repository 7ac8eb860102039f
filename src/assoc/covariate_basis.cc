#include "assoc/covariate_basis.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tallele {
namespace {

constexpr double kRankTolerance = 1e-9;

// `values` minus their mean, divided by the norm of that. Returns the share of the result that
// is rounding of the given values, or infinity for a constant column.
double CentreAndScale(std::span<const double> values, Eigen::Ref<Eigen::VectorXd> out) {
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  double largest = 0;
  double rest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double centred = values[i] - sum / n;
    out[static_cast<Eigen::Index>(i)] = centred;
    largest = std::max(largest, std::fabs(values[i]));
    rest += centred;
  }
  // The mean of large values is itself rounded: what it missed shows in the centred ones.
  double squares = 0;
  for (double& centred : out) {
    centred -= rest / n;
    squares += centred * centred;
  }
  const double norm = std::sqrt(squares);
  const double rounding = std::numeric_limits<double>::epsilon() * largest * std::sqrt(n);
  if (norm <= 64 * rounding) return std::numeric_limits<double>::infinity();
  out /= norm;
  return rounding / norm;
}

}  // namespace

Result<CovariateBasis> BuildCovariateBasis(std::span<const std::vector<double>> covariates,
                                           std::span<const std::string> names, size_t num_people) {
  if (num_people == 0) return InputError("nobody is left to analyse", "");
  CovariateBasis basis;
  basis.num_people = num_people;
  const double n = static_cast<double>(num_people);
  basis.columns.emplace_back(num_people, 1 / std::sqrt(n));

  Eigen::MatrixXd scaled(static_cast<Eigen::Index>(num_people),
                         static_cast<Eigen::Index>(covariates.size()));
  std::vector<size_t> varying;
  double tolerance = kRankTolerance;
  for (size_t c = 0; c < covariates.size(); ++c) {
    const double rounding =
        CentreAndScale(covariates[c], scaled.col(static_cast<Eigen::Index>(varying.size())));
    if (std::isinf(rounding)) {
      basis.dropped.push_back(names[c]);
      continue;
    }
    tolerance = std::max(tolerance, 8 * rounding);
    varying.push_back(c);
  }
  if (varying.empty()) return basis;

  Eigen::Ref<Eigen::MatrixXd> used = scaled.leftCols(static_cast<Eigen::Index>(varying.size()));
  Eigen::ColPivHouseholderQR<Eigen::Ref<Eigen::MatrixXd>> qr(used);
  const Eigen::Index steps = std::min(used.rows(), used.cols());
  Eigen::Index rank = 0;
  const double first = std::fabs(qr.matrixQR()(0, 0));
  // The centred columns lie in n-1 dimensions.
  while (rank < std::min(steps, used.rows() - 1) &&
         std::fabs(qr.matrixQR()(rank, rank)) > tolerance * first) {
    ++rank;
  }
  for (Eigen::Index k = rank; k < used.cols(); ++k) {
    basis.dropped.push_back(names[varying[static_cast<size_t>(qr.colsPermutation().indices()[k])]]);
  }
  Eigen::MatrixXd q = Eigen::MatrixXd::Identity(used.rows(), rank);
  q.applyOnTheLeft(qr.householderQ().setLength(rank));
  for (Eigen::Index k = 0; k < rank; ++k) {
    basis.columns.emplace_back(q.col(k).data(), q.col(k).data() + q.rows());
  }
  return basis;
}

}  // namespace tallele

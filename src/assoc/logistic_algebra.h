#ifndef TALLELE_ASSOC_LOGISTIC_ALGEBRA_H_
#define TALLELE_ASSOC_LOGISTIC_ALGEBRA_H_

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "assoc/masked_design.h"

namespace tallele {

// Sums over people that the logistic fits share; rows are taken in chunks, in one order.

using ColumnMatrix = Eigen::Map<const Eigen::MatrixXd>;  // [m x columns]

inline ColumnMatrix ColumnsOf(const MaskedDesign& design) {
  return ColumnMatrix(design.z.data(), static_cast<Eigen::Index>(design.num_people()),
                      static_cast<Eigen::Index>(design.rank));
}

inline Eigen::Map<const Eigen::VectorXd> AsVector(std::span<const double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// z' diag(w) z.
Eigen::MatrixXd WeightedGram(const ColumnMatrix& z, std::span<const double> w);

// Row by row z M^-1 z' w with M = z' diag(w) z given by its inverse root G: the leverages.
std::vector<double> Leverages(const ColumnMatrix& z, const Eigen::MatrixXd& inverse_root,
                              std::span<const double> w);

// G with M^-1 = G G' for a positive definite M, and ln det M. False: not positive definite.
bool InvertRoot(const Eigen::MatrixXd& matrix, Eigen::MatrixXd* inverse_root, double* log_det);

}  // namespace tallele

#endif  // TALLELE_ASSOC_LOGISTIC_ALGEBRA_H_

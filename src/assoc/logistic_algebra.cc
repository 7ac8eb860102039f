#include "assoc/logistic_algebra.h"

#include <algorithm>
#include <cmath>

namespace tallele {
namespace {

constexpr Eigen::Index kChunk = 512;

}  // namespace

Eigen::MatrixXd WeightedGram(const ColumnMatrix& z, std::span<const double> w) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(z.cols(), z.cols());
  Eigen::MatrixXd scaled(kChunk, z.cols());
  for (Eigen::Index begin = 0; begin < z.rows(); begin += kChunk) {
    const Eigen::Index count = std::min(kChunk, z.rows() - begin);
    const Eigen::ArrayXd root =
        AsVector(w.subspan(static_cast<size_t>(begin), static_cast<size_t>(count))).array().sqrt();
    scaled.topRows(count) = root.matrix().asDiagonal() * z.middleRows(begin, count);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(scaled.topRows(count).transpose());
  }
  return gram.selfadjointView<Eigen::Lower>();
}

std::vector<double> Leverages(const ColumnMatrix& z, const Eigen::MatrixXd& inverse_root,
                              std::span<const double> w) {
  std::vector<double> out(static_cast<size_t>(z.rows()));
  Eigen::MatrixXd rooted(kChunk, z.cols());
  for (Eigen::Index begin = 0; begin < z.rows(); begin += kChunk) {
    const Eigen::Index count = std::min(kChunk, z.rows() - begin);
    rooted.topRows(count).noalias() = z.middleRows(begin, count) * inverse_root;
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(begin + i);
      out[at] = w[at] * rooted.row(i).squaredNorm();
    }
  }
  return out;
}

bool InvertRoot(const Eigen::MatrixXd& matrix, Eigen::MatrixXd* inverse_root, double* log_det) {
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  if (factor.info() != Eigen::Success) return false;
  const Eigen::Index n = matrix.rows();
  const Eigen::MatrixXd lower = factor.matrixL();
  *log_det = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!(lower(i, i) > 0) || !std::isfinite(lower(i, i))) return false;
    *log_det += 2 * std::log(lower(i, i));
  }
  // M = L L', so M^-1 = L^-T L^-1 and G = L^-T.
  *inverse_root =
      lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(n, n)).transpose();
  return inverse_root->allFinite();
}

}  // namespace tallele

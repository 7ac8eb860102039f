#ifndef TALLELE_ASSOC_BINARY_SCORE_H_
#define TALLELE_ASSOC_BINARY_SCORE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assoc/block_sums.h"
#include "assoc/chromosome_state.h"

namespace tallele {

// The score test of one binary trait and one variant. All of it is about the code that is tested,
// turned round (highest - code) where that makes its sum smaller.
struct BinaryScore {
  bool has_test = false;  // the variant varies once covariates are removed
  double score = 0;       // U = g'(y - p)
  double variance = 0;    // V = g'Wg - (X'Wg)'(X'WX)^-1 (X'Wg)
  double case_codes = 0;  // sum of the codes as stored over the cases with a call
  int64_t called_cases = 0;
};

// What the traits of a group share of one variant.
class WeightedVariant {
 public:
  void Prepare(const BlockSums& sums, size_t variant, const ChromosomeState& state,
               const CodeMoments& moments, int64_t num_called);

  BinaryScore Test(const BinaryNull& null);

  // (X'WX)^-1 X'Wg of the last trait tested: g minus X times it is the covariate-adjusted genotype.
  // [basis columns]
  std::vector<double> AdjustmentOf(const BinaryNull& null) const;

  bool turned() const { return turned_; }
  double mean() const { return mean_; }  // of the turned codes: stands for a missing call

 private:
  // Sum of the turned codes with column `c`, missing calls at the mean, in real units.
  double Sum(size_t column) const;
  double SquareSum(const BinaryNull& null) const;

  const ChromosomeState* state_ = nullptr;
  VariantSums sums_;
  const __int128* squares_ = nullptr;
  const int64_t* missing_ = nullptr;
  int64_t num_called_ = 0;
  bool turned_ = false;
  double mean_ = 0;
  std::vector<double> along_;  // F' X'Wg
};

// sqrt(V) below this: REGENIE takes the variant for constant (regenie.md 2.7).
inline constexpr double kSmallestScoreDeviation = 1e-6;

}  // namespace tallele

#endif  // TALLELE_ASSOC_BINARY_SCORE_H_

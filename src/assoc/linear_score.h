#ifndef TALLELE_ASSOC_LINEAR_SCORE_H_
#define TALLELE_ASSOC_LINEAR_SCORE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assoc/block_sums.h"
#include "assoc/chromosome_state.h"

namespace tallele {

// v is taken for rounding when it is below this share of the sum of squared codes (which are
// those of the rarer code): the variant does not vary once covariates are removed.
inline constexpr double kRelativeVarianceTolerance = 1e-7;

struct LinearStatistics {
  double beta = 0;
  double se = 0;
  double chisq = 0;
  double log10p = 0;
};

// A variant's codes over one group, residualised: everything of the test that the traits of the
// group share. Reused from variant to variant.
//
// Codes are turned round (highest - code) when that makes their sum smaller, which keeps digits
// where a code is nearly constant; `sign` turns the effect back.
class ResidualisedVariant {
 public:
  // `moments`: sums of the codes over the group's `num_called` people with a call.
  // False: v is zero or rounding, there is no test.
  bool Compute(const BlockSums& sums, size_t variant, const ChromosomeState& state, size_t group,
               const CodeMoments& moments, int64_t num_called);

  // The test of one trait of the same group. `sign`: -1 if the effect allele is not the one
  // that the codes count.
  LinearStatistics Test(const TraitNull& trait, double sign) const;

 private:
  template <typename Integer>
  void FillCovariateSums(const int64_t* list_missing);
  template <typename Integer>
  double ResidualSum(size_t column) const;

  const ChromosomeState* state_ = nullptr;
  const SampleGroup* group_ = nullptr;
  VariantSums sums_;
  ListSums list_;
  const int64_t* missing_ = nullptr;
  bool wide_ = false;  // sums need 128 bits
  bool turned_ = false;
  double mean_ = 0;            // of the turned codes, in units of the value tested
  double variance_ = 0;        // v
  std::vector<double> along_;  // [rank] factor' X'g
  std::vector<double> cross_;  // [K]
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_LINEAR_SCORE_H_

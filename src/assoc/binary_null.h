#ifndef TALLELE_ASSOC_BINARY_NULL_H_
#define TALLELE_ASSOC_BINARY_NULL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assoc/binary_options.h"
#include "assoc/covariate_basis.h"
#include "assoc/masked_design.h"
#include "kernels/cpu_target.h"

namespace tallele {

// What the corrections need of a trait's null model, over the mask's people ([m]). Arrays that the
// chosen correction does not read are empty.
struct BinaryPeople {
  std::shared_ptr<const MaskedDesign> design;  // its z is kept for exact Firth alone
  std::vector<double> y;                       // 0 or 1
  std::vector<double> eta;                     // null logistic model's logits: saddlepoint
  std::vector<double> firth_offset;            // null Firth model's logits: approximate Firth
  std::vector<double> firth_p;                 // its probabilities
  std::vector<double> firth_w;                 // p (1 - p)
  double firth_deviance = 0;                   // its -2 log likelihood
  std::vector<double> loco;                    // predictions: exact Firth
  std::vector<double> coefficients;            // [rank] null logistic estimate: exact Firth
  std::vector<double> firth_coefficients;      // [K] of it, of the covariate basis
  std::string firth_problem;                   // why there is no null Firth model
};

// Null model of one binary trait on one chromosome, in the units of the exact sums. Its columns
// among the chromosome's are [W X (K) | y - p | y].
struct BinaryNull {
  size_t trait = 0;     // in the order of the cohort
  bool failed = false;  // there is no null model, and no columns
  size_t first_column = 0;
  size_t weight = 0;        // index among the chromosome's weights
  double weight_scale = 0;  // W = weight_scale * q of the first column
  size_t rank = 0;
  std::vector<double> factor;  // [K][rank] F with (X'WX)^-1 = F F', X real
  size_t num_cases = 0;
  std::shared_ptr<const BinaryPeople> people;
};

struct BinaryFit {
  BinaryNull null;
  std::string problem;           // why the null model failed
  std::vector<double> weights;   // [m] W; empty if it failed
  std::vector<double> residual;  // [m] y - p
};

// Column `column` of a fitted trait's [W X | y - p | y] over the base set, zero outside the mask.
void FillBinaryColumn(const CovariateBasis& basis, const BinaryFit& fit, size_t column,
                      std::span<double> base_values);

// One trait of one mask: `y` and `loco` ([m]; empty: no predictions). `firth_start` ([K], of the
// covariate basis): where the null Firth fit starts; empty: at the null logistic estimate.
struct BinaryFitRequest {
  size_t trait = 0;
  std::vector<double> y;
  std::vector<double> loco;
  std::vector<double> firth_start;
};

// Fits the null logistic model and, where the correction needs it, the null Firth model.
BinaryFit FitBinaryNull(CpuTarget target, const CovariateBasis& basis,
                        const std::shared_ptr<const MaskedDesign>& design,
                        const BinaryFitRequest& request, const BinaryOptions& options);

}  // namespace tallele

#endif  // TALLELE_ASSOC_BINARY_NULL_H_

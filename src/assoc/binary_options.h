#ifndef TALLELE_ASSOC_BINARY_OPTIONS_H_
#define TALLELE_ASSOC_BINARY_OPTIONS_H_

namespace tallele {

// What follows a score test that passes the threshold.
enum class BinaryCorrection { kNone, kFirthApproximate, kFirthExact, kSaddlepoint };

// What a null model that does not converge does to the run.
enum class NullFailurePolicy { kWarn, kFail };

// Limits of the solvers. Defaults are REGENIE 4.1.2's, except the null logistic model, which is
// fitted until its logits stand still.
struct FirthLimits {
  int max_iterations = 250;        // half for pseudo data (carriers), half for Newton steps
  int max_pseudo_iterations = 50;  // pseudo data over everyone
  int max_inner_iterations = 25;
  double gradient_tolerance = 2.5e-4;
  double max_step = 5;
  int max_halvings = 25;
  double carrier_dosage = 1e-4;  // more than this is a carrier
};

struct NullFirthLimits {
  int max_iterations = 1000;
  double max_step = 25;
  double gradient_tolerance = 5e-5;
  int max_halvings = 25;
  double halving_scale = 0.5;
  int retry_iteration_factor = 5;
  double retry_step_divisor = 5;
  bool retries = true;  // off when the user sets the step or the iterations
};

struct BinaryOptions {
  BinaryCorrection correction = BinaryCorrection::kNone;
  double p_threshold = 0.05;
  bool firth_se = false;            // SE = |BETA| / sqrt(LRT)
  bool carriers_only_firth = true;  // off: --skip-fast-firth
  int null_iterations = 50;
  NullFailurePolicy null_failure = NullFailurePolicy::kWarn;
  FirthLimits firth;
  NullFirthLimits null_firth;
  double min_cases = 10;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_BINARY_OPTIONS_H_

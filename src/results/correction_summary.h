#ifndef TALLELE_RESULTS_CORRECTION_SUMMARY_H_
#define TALLELE_RESULTS_CORRECTION_SUMMARY_H_

#include <cstddef>

namespace tallele {

// What became of the rows of a binary trait whose score test passed the threshold.
struct CorrectionSummary {
  size_t candidates = 0;
  size_t carriers_only = 0;  // summed over carriers, or carriers and a normal remainder
  size_t pseudo_data = 0;    // Firth fits by stage
  size_t newton = 0;
  size_t both_tails = 0;  // saddlepoints
  size_t near_tail = 0;
  size_t not_converged = 0;  // failures
  size_t null_failed = 0;

  bool operator==(const CorrectionSummary&) const = default;
  void Add(const CorrectionSummary& other) {
    candidates += other.candidates;
    carriers_only += other.carriers_only;
    pseudo_data += other.pseudo_data;
    newton += other.newton;
    both_tails += other.both_tails;
    near_tail += other.near_tail;
    not_converged += other.not_converged;
    null_failed += other.null_failed;
  }
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_CORRECTION_SUMMARY_H_

#ifndef TALLELE_ASSOC_BINARY_CORRECTION_H_
#define TALLELE_ASSOC_BINARY_CORRECTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assoc/binary_null.h"
#include "assoc/binary_options.h"
#include "assoc/block_sums.h"
#include "assoc/variant_firth.h"
#include "kernels/cpu_target.h"
#include "results/result_table.h"

namespace tallele {

// A row whose score test passed the threshold.
struct CorrectionCandidate {
  size_t variant = 0;  // in the block
  const BinaryNull* null = nullptr;
  std::vector<double> adjustment;  // [basis columns] see WeightedVariant::AdjustmentOf
  bool turned = false;             // the codes are turned round
  double mean = 0;                 // of the turned codes: stands for a missing call
  double score = 0;                // U and V of the turned codes
  double variance = 0;
  double minor_allele_count = 0;
  int64_t num_called = 0;
};

enum class CorrectionEnd : uint8_t {
  kPseudoData,  // Firth, first stage
  kNewton,      // Firth, second stage
  kBothTails,   // saddlepoint
  kNearTail,    // saddlepoint, the far tail being negligible
  kNotConverged,
  kNullFailed,  // there is no null Firth model
};

struct CorrectedTest {
  CorrectionEnd end = CorrectionEnd::kNotConverged;
  bool carriers_only = false;
  double beta = 0;  // Firth: of the turned codes
  double se = 0;    // Firth
  double chisq = 0;
  double log10p = 0;

  bool succeeded() const { return end < CorrectionEnd::kNotConverged; }
};

// Working memory of one thread.
struct CorrectionScratch {
  std::vector<uint64_t> codes;
  std::vector<uint32_t> people;  // mask positions
  std::vector<double> x;
  std::vector<double> offset;
  std::vector<double> y;
  std::vector<uint32_t> listed;
  std::vector<uint16_t> pairs;
};

// Corrects candidates of a block, each by itself: the result does not depend on the others.
class BinaryCorrector {
 public:
  BinaryCorrector(const BinaryOptions& options, const CovariateBasis& basis, CpuTarget target);

  CorrectedTest Correct(const VariantBlock& block, const BlockSums& sums,
                        const CorrectionCandidate& candidate, CorrectionScratch& scratch) const;

  // How the rows that it corrects are called.
  CorrectionMethod method() const;

 private:
  bool ListCarriersOf(const VariantBlock& block, const BlockSums& sums,
                      const CorrectionCandidate& candidate, double threshold,
                      CorrectionScratch& scratch) const;
  void KeepCarriers(const CorrectionCandidate& candidate, double threshold,
                    CorrectionScratch& scratch) const;
  void LoadEveryone(const VariantBlock& block, const BlockSums& sums,
                    const CorrectionCandidate& candidate, CorrectionScratch& scratch) const;
  void LoadCodes(const VariantBlock& block, const BlockSums& sums,
                 const CorrectionCandidate& candidate, CorrectionScratch& scratch) const;
  void Adjust(const CorrectionCandidate& candidate, bool carriers_only,
              CorrectionScratch& scratch) const;
  CorrectedTest ByFirth(const VariantBlock& block, const BlockSums& sums,
                        const CorrectionCandidate& candidate, CorrectionScratch& scratch) const;
  CorrectedTest ByExactFirth(const VariantBlock& block, const BlockSums& sums,
                             const CorrectionCandidate& candidate,
                             CorrectionScratch& scratch) const;
  CorrectedTest BySaddlepoint(const VariantBlock& block, const BlockSums& sums,
                              const CorrectionCandidate& candidate,
                              CorrectionScratch& scratch) const;
  CorrectedTest FromFirth(const FirthEstimate& estimate, bool carriers_only) const;

  BinaryOptions options_;
  const CovariateBasis& basis_;
  CpuTarget target_;
  std::vector<double> rows_;  // [base][basis columns]: a few people's covariates lie together
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_BINARY_CORRECTION_H_

#ifndef TALLELE_RESULTS_REGENIE_TEXT_H_
#define TALLELE_RESULTS_REGENIE_TEXT_H_

#include <string>

#include "genotype/variant_index.h"
#include "results/result_table.h"
#include "results/trait_text.h"

namespace tallele {

// Turns rows into the lines of REGENIE's split output file:
//   CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ [A1FREQ_CASES A1FREQ_CONTROLS] [INFO] N
//   [N_CASES N_CONTROLS] TEST BETA SE CHISQ LOG10P EXTRA
// with single spaces and six significant digits. One difference on purpose: a statistic that is
// exactly zero prints 0, where REGENIE prints NA.
class RegenieText final : public TraitText {
 public:
  // Both arguments must outlive the object.
  RegenieText(const ResultSchema& schema, const VariantIndex& variants);

  void AppendHeader(std::string& out) const override;
  void AppendRow(const ResultRow& row, const GenotypeCounts* counts, std::string& out) override;

 private:
  const ResultSchema& schema_;
  const VariantIndex& variants_;
  ChromosomeText chromosome_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_REGENIE_TEXT_H_

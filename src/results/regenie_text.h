#ifndef TALLELE_RESULTS_REGENIE_TEXT_H_
#define TALLELE_RESULTS_REGENIE_TEXT_H_

#include <string>
#include <string_view>

#include "genotype/variant_index.h"
#include "results/result_table.h"

namespace tallele {

// Turns rows into the lines of REGENIE's split output file:
//   CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ [INFO] N TEST BETA SE CHISQ LOG10P EXTRA
// with single spaces and six significant digits. One difference on purpose: a statistic that is
// exactly zero prints 0, where REGENIE prints NA.
class RegenieText {
 public:
  // Both arguments must outlive the object.
  RegenieText(const ResultSchema& schema, const VariantIndex& variants);

  // The header line, with its newline.
  void AppendHeader(std::string& out) const;

  // The line of one row, with its newline.
  void AppendRow(const ResultRow& row, std::string& out);

 private:
  void UseChromosome(std::string_view label);

  const ResultSchema& schema_;
  const VariantIndex& variants_;
  std::string label_;       // the label that `chromosome_` was made from
  std::string chromosome_;  // REGENIE's integer code, as text
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_REGENIE_TEXT_H_

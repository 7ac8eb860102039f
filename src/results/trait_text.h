#ifndef TALLELE_RESULTS_TRAIT_TEXT_H_
#define TALLELE_RESULTS_TRAIT_TEXT_H_

#include <memory>
#include <string>

#include "genotype/variant_index.h"
#include "results/result_table.h"

namespace tallele {

// Turns the rows of one trait into lines of text.
class TraitText {
 public:
  virtual ~TraitText() = default;

  // The header line, with its newline.
  virtual void AppendHeader(std::string& out) const = 0;

  // The line of one row, with its newline. `counts` may be null unless the layout prints them.
  virtual void AppendRow(const ResultRow& row, const GenotypeCounts* counts, std::string& out) = 0;
};

// The layout that `schema` asks for: REGENIE's split file, or its --htp table.
std::unique_ptr<TraitText> MakeTraitText(const ResultSchema& schema, const std::string& trait,
                                         const VariantIndex& variants);

// What all layouts do alike.

// REGENIE's integer code of a chromosome as text, kept from row to row.
class ChromosomeText {
 public:
  const std::string& Of(std::string_view label, int num_autosomes);

 private:
  std::string label_;  // the label that `text_` was made from
  std::string text_;
};

// "CHROM GENPOS ID ALLELE0 ALLELE1" of a variant.
void AppendVariant(const VariantRecord& variant, const ResultSchema& schema,
                   ChromosomeText& chromosome, std::string& out);

// " value" with six digits, or " NA".
void AppendStatistic(double value, bool exists, std::string& out);

// What EXTRA says of a row: NA, TEST_FAIL or SPA_ONE_TAIL.
const char* ExtraOf(RowStatus status);

}  // namespace tallele

#endif  // TALLELE_RESULTS_TRAIT_TEXT_H_

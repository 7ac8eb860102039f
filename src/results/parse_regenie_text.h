#ifndef TALLELE_RESULTS_PARSE_REGENIE_TEXT_H_
#define TALLELE_RESULTS_PARSE_REGENIE_TEXT_H_

#include <string>

#include "genotype/variant_index.h"
#include "results/result_table.h"

namespace tallele {

// For tests: what a REGENIE split file says.
struct ParsedRegenieText {
  VariantIndex variants;  // ALLELE0 as first allele
  ResultTable table;
  ResultSchema schema;
};

// Reads the text by the standard library's streams alone; `NA` becomes NaN.
ParsedRegenieText ParseRegenieText(const std::string& text);

}  // namespace tallele

#endif  // TALLELE_RESULTS_PARSE_REGENIE_TEXT_H_

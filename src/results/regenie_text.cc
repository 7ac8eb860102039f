#include "results/regenie_text.h"

#include "base/format_number.h"

namespace tallele {

RegenieText::RegenieText(const ResultSchema& schema, const VariantIndex& variants)
    : schema_(schema), variants_(variants) {}

void RegenieText::AppendHeader(std::string& out) const {
  out += "CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ ";
  if (schema_.af_cc) out += "A1FREQ_CASES A1FREQ_CONTROLS ";
  if (schema_.has_info) out += "INFO ";
  out += "N ";
  if (schema_.af_cc) out += "N_CASES N_CONTROLS ";
  out += "TEST BETA SE CHISQ LOG10P EXTRA\n";
}

void RegenieText::AppendRow(const ResultRow& row, const GenotypeCounts*, std::string& out) {
  AppendVariant(variants_[row.variant], schema_, chromosome_, out);
  AppendStatistic(row.a1freq, true, out);
  if (schema_.af_cc) {
    AppendStatistic(row.a1freq_cases, true, out);
    AppendStatistic(row.a1freq_controls, true, out);
  }
  if (schema_.has_info) AppendStatistic(row.info, row.info >= 0, out);
  out += ' ';
  AppendInteger(row.n, out);
  if (schema_.af_cc) {
    out += ' ';
    AppendInteger(row.num_cases, out);
    out += ' ';
    AppendInteger(row.n - row.num_cases, out);
  }
  out += ' ';
  out += schema_.test;
  AppendStatistic(row.beta, true, out);
  AppendStatistic(row.se, true, out);
  AppendStatistic(row.chisq, row.chisq >= 0, out);
  AppendStatistic(row.log10p, true, out);
  out += ' ';
  out += ExtraOf(row.status);
  out += '\n';
}

}  // namespace tallele

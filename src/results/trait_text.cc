#include "results/trait_text.h"

#include <cmath>

#include "base/format_number.h"
#include "cohort/variant_selection.h"
#include "results/htp_text.h"
#include "results/regenie_text.h"

namespace tallele {

std::unique_ptr<TraitText> MakeTraitText(const ResultSchema& schema, const std::string& trait,
                                         const VariantIndex& variants) {
  if (schema.htp_cohort.empty()) return std::make_unique<RegenieText>(schema, variants);
  return std::make_unique<HtpText>(schema, trait, variants);
}

const std::string& ChromosomeText::Of(std::string_view label, int num_autosomes) {
  if (label_ == label && !text_.empty()) return text_;
  label_ = label;
  const auto code = ChromosomeCode(label, num_autosomes);
  // Variants without a code are left out of a scan; a caller that tests them sees the label.
  text_ = code ? std::to_string(*code) : label_;
  return text_;
}

void AppendVariant(const VariantRecord& variant, const ResultSchema& schema,
                   ChromosomeText& chromosome, std::string& out) {
  out += chromosome.Of(variant.chromosome, schema.num_autosomes);
  out += ' ';
  AppendInteger(variant.position, out);
  out += ' ';
  out += variant.id;
  out += ' ';
  out += schema.ref_first ? variant.first_allele : variant.second_allele;
  out += ' ';
  out += schema.ref_first ? variant.second_allele : variant.first_allele;
}

void AppendStatistic(double value, bool exists, std::string& out) {
  out += ' ';
  if (!exists || !std::isfinite(value)) {
    out += "NA";
    return;
  }
  AppendSixDigits(value == 0 ? 0.0 : value, out);  // no "-0"
}

const char* ExtraOf(RowStatus status) {
  switch (status) {
    case RowStatus::kNullFailed:
    case RowStatus::kNotConverged:
    case RowStatus::kNullFirthFailed:
      return "TEST_FAIL";
    case RowStatus::kOneTail:
      return "SPA_ONE_TAIL";
    case RowStatus::kSuccess:
    case RowStatus::kNoVariance:
      break;
  }
  return "NA";
}

}  // namespace tallele

#include "results/htp_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format_number.h"

namespace tallele {
namespace {

constexpr double kNormal975 = 1.959963984540054;     // two-sided 95 % limits
constexpr double kLog10PFloor = 306.65757731917779;  // -log10(2.2e-307)

void AppendNumber(double value, std::string& out) {
  out += '\t';
  if (std::isfinite(value)) {
    AppendSixDigits(value == 0 ? 0.0 : value, out);
  } else {
    out += "NA";
  }
}

void AppendCounts(int32_t total, const int32_t (&counts)[3], std::string& out) {
  for (const int32_t count : {total, counts[0], counts[1], counts[2]}) {
    out += '\t';
    AppendInteger(count, out);
  }
}

// 10^-log10p in six digits, also where a double has no such number.
void AppendPValue(double log10p, bool exact, std::string& out) {
  if (!std::isfinite(log10p)) {
    out += "\tNA";
  } else if (!exact || log10p < 300) {
    AppendNumber(std::pow(10, -std::min(log10p, kLog10PFloor)), out);
  } else {
    const double exponent = std::ceil(log10p);
    std::string mantissa = FormatSixDigits(std::pow(10, exponent - log10p));
    out += fmt::format("\t{}e-{:.0f}", mantissa, exponent);
  }
}

}  // namespace

HtpText::HtpText(const ResultSchema& schema, std::string trait, const VariantIndex& variants)
    : schema_(schema), trait_(std::move(trait)), variants_(variants) {}

void HtpText::AppendHeader(std::string& out) const {
  out +=
      "Name\tChr\tPos\tRef\tAlt\tTrait\tCohort\tModel\tEffect\tLCI_Effect\tUCI_Effect\tPval\tAAF\t"
      "Num_Cases\tCases_Ref\tCases_Het\tCases_Alt\tNum_Controls\tControls_Ref\tControls_Het\t"
      "Controls_Alt\tInfo\n";
}

HtpText::Effect HtpText::EffectOf(const ResultRow& row, const GenotypeCounts& counts) const {
  double centre = row.beta;
  double width = kNormal975 * row.se;
  if (!HasStatistic(row.status)) centre = NAN;
  if (!schema_.binary) return {centre, centre - width, centre + width};
  if (!schema_.htp_odds_ratio) {
    const auto cell = [](int32_t once, int32_t twice) { return 0.5 + once + 2.0 * twice; };
    const double case_alt = cell(counts.cases[1], counts.cases[2]);
    const double case_ref = cell(counts.cases[1], counts.cases[0]);
    const double control_alt = cell(counts.controls[1], counts.controls[2]);
    const double control_ref = cell(counts.controls[1], counts.controls[0]);
    if (HasStatistic(row.status)) {
      centre = std::log(case_alt * control_ref / (case_ref * control_alt));
    }
    width = kNormal975 * std::sqrt(1 / case_alt + 1 / case_ref + 1 / control_alt + 1 / control_ref);
  }
  return {std::exp(centre), std::exp(centre - width), std::exp(centre + width)};
}

void HtpText::AppendInfo(const ResultRow& row, std::string& out) const {
  const auto add = [&](const char* name, double value) {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(out), "{}={:.6f};", name, value == 0 ? 0.0 : value);
    }
  };
  out += '\t';
  add("REGENIE_BETA", row.beta);
  add("REGENIE_SE", row.se);
  if (schema_.has_info) add("INFO", row.info);
  add("MAC", row.minor_allele_count);
  if (schema_.binary && row.status != RowStatus::kNullFailed) {
    add("SCORE", row.score);
    // Of a corrected row the variance that its statistic stands for, as in REGENIE's files.
    const bool corrected = row.method != CorrectionMethod::kScore && row.chisq > 0;
    add("SKATV", corrected ? row.score * row.score / row.chisq : row.score_variance);
  }
  add("LOG10P", row.log10p);
  if (const std::string extra = ExtraOf(row.status); extra != "NA") out += extra + ";";
  out.back() = '\n';
}

void HtpText::AppendRow(const ResultRow& row, const GenotypeCounts* counts, std::string& out) {
  static constexpr GenotypeCounts kNoCounts;
  const GenotypeCounts& people = counts == nullptr ? kNoCounts : *counts;
  const VariantRecord variant = variants_[row.variant];
  out += variant.id;
  out += '\t';
  out += chromosome_.Of(variant.chromosome, schema_.num_autosomes);
  out += '\t';
  AppendInteger(variant.position, out);
  out += '\t';
  out += schema_.ref_first ? variant.first_allele : variant.second_allele;
  out += '\t';
  out += schema_.ref_first ? variant.second_allele : variant.first_allele;
  out += '\t' + trait_ + '\t' + schema_.htp_cohort + '\t' + schema_.htp_model;
  const Effect effect = EffectOf(row, people);
  AppendNumber(effect.estimate, out);
  AppendNumber(effect.low, out);
  AppendNumber(effect.high, out);
  AppendPValue(row.log10p, schema_.exact_p, out);
  AppendNumber(row.a1freq, out);
  if (schema_.binary) {
    AppendCounts(row.num_cases, people.cases, out);
    AppendCounts(row.n - row.num_cases, people.controls, out);
  } else {
    AppendCounts(row.n, people.cases, out);
    out += "\tNA\tNA\tNA\tNA";
  }
  AppendInfo(row, out);
}

}  // namespace tallele

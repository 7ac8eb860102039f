#include "results/wide_text.h"

#include "base/format_number.h"

namespace tallele {

std::string WideTextPath(const std::string& prefix, bool gzip) {
  return prefix + (gzip ? ".regenie.gz" : ".regenie");
}

std::string TraitDictionaryPath(const std::string& prefix) { return prefix + ".regenie.Ydict"; }

Result<std::unique_ptr<WideText>> WideText::Create(const std::string& prefix, bool gzip,
                                                   const std::vector<std::string>& traits,
                                                   const ResultSchema& schema,
                                                   const VariantIndex& variants, FileEnv& env) {
  std::unique_ptr<WideText> text(new WideText(prefix, traits, schema, variants, env));
  TALLELE_ASSIGN(text->file_, TextFile::Create(WideTextPath(prefix, gzip), gzip, env));
  text->AppendHeader();
  TALLELE_TRY(text->file_->Append(text->lines_));
  text->lines_.clear();
  return text;
}

Result<void> WideText::KeepLines(const std::string& folder, const std::string& layout) {
  TALLELE_ASSIGN(kept_, KeptTextWriter::Create(folder, layout, env_));
  return {};
}

void WideText::AppendHeader() {
  lines_ += "CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ ";
  if (schema_.has_info) lines_ += "INFO ";
  lines_ += "N N_RR N_RA N_AA TEST";
  for (size_t t = 1; t <= traits_.size(); ++t) {
    const std::string suffix = ".Y" + std::to_string(t);
    for (const char* name : {" BETA", " SE", " CHISQ", " LOG10P"}) lines_ += name + suffix;
  }
  lines_ += " EXTRA\n";
}

void WideText::AppendUnion(const UnionRow& row) {
  AppendVariant(variants_[row.variant], schema_, chromosome_, lines_);
  AppendStatistic(row.a1freq, true, lines_);
  if (schema_.has_info) AppendStatistic(row.info, row.info >= 0, lines_);
  for (const int32_t count :
       {row.n, row.counts.cases[0], row.counts.cases[1], row.counts.cases[2]}) {
    lines_ += ' ';
    AppendInteger(count, lines_);
  }
  lines_ += ' ';
  lines_ += schema_.test;
}

// Returns what EXTRA says of the trait.
const char* WideText::AppendTrait(const ResultRow* row) {
  if (row == nullptr) {
    lines_ += " NA NA NA NA";
    return "NA";
  }
  AppendStatistic(row->beta, true, lines_);
  AppendStatistic(row->se, true, lines_);
  AppendStatistic(row->chisq, row->chisq >= 0, lines_);
  AppendStatistic(row->log10p, true, lines_);
  return ExtraOf(row->status);
}

Result<void> WideText::Append(VariantRange part, std::span<const UnionRow> rows,
                              std::span<const ResultTable* const> tables) {
  std::vector<size_t> next(tables.size(), 0);
  for (const UnionRow& row : rows) {
    AppendUnion(row);
    std::string extra = "NA";
    for (size_t t = 0; t < tables.size(); ++t) {
      const std::vector<ResultRow>& own = tables[t]->rows;
      while (next[t] < own.size() && own[next[t]].variant < row.variant) ++next[t];
      const bool has_row = next[t] < own.size() && own[next[t]].variant == row.variant;
      const std::string says = AppendTrait(has_row ? &own[next[t]] : nullptr);
      if (says == "TEST_FAIL" || (extra == "NA" && says != "NA")) extra = says;
    }
    lines_ += ' ' + extra + '\n';
  }
  if (kept_ && !lines_.empty()) TALLELE_TRY(kept_->Append(part, lines_));
  TALLELE_TRY(file_->Append(lines_));
  lines_.clear();
  return {};
}

Result<std::optional<KeptText>> WideText::FinishPart(VariantRange part) {
  if (!kept_) return std::optional<KeptText>();
  TALLELE_ASSIGN(KeptText text, kept_->Finish(part));
  return std::optional(std::move(text));
}

Result<void> WideText::Finish() {
  std::string dictionary;
  for (size_t t = 0; t < traits_.size(); ++t) {
    dictionary += "Y" + std::to_string(t + 1) + " " + traits_[t] + "\n";
  }
  TALLELE_TRY(WriteFileAtomically(TraitDictionaryPath(prefix_), dictionary, env_));
  return file_->Commit();
}

}  // namespace tallele

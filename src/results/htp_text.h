#ifndef TALLELE_RESULTS_HTP_TEXT_H_
#define TALLELE_RESULTS_HTP_TEXT_H_

#include <string>

#include "genotype/variant_index.h"
#include "results/result_table.h"
#include "results/trait_text.h"

namespace tallele {

// REGENIE's --htp table, tab-separated:
//   Name Chr Pos Ref Alt Trait Cohort Model Effect LCI_Effect UCI_Effect Pval AAF
//   Num_Cases Cases_Ref Cases_Het Cases_Alt Num_Controls Controls_Ref Controls_Het Controls_Alt
//   Info
//
// Effect and its limits: BETA and BETA +- 1.96 SE of a quantitative trait; with Firth their
// exponentials; for other tests of a binary trait the allelic odds ratio of the counts with half a
// count added to each cell, its limits by Woolf's variance. Everyone is a case of a quantitative
// trait, and its control columns are NA. Pval has a floor of 2.2e-307 unless the schema says exact.
class HtpText final : public TraitText {
 public:
  // The references must outlive the object.
  HtpText(const ResultSchema& schema, std::string trait, const VariantIndex& variants);

  void AppendHeader(std::string& out) const override;
  void AppendRow(const ResultRow& row, const GenotypeCounts* counts, std::string& out) override;

 private:
  struct Effect {
    double estimate;
    double low;
    double high;
  };
  Effect EffectOf(const ResultRow& row, const GenotypeCounts& counts) const;
  void AppendInfo(const ResultRow& row, std::string& out) const;

  const ResultSchema& schema_;
  const std::string trait_;
  const VariantIndex& variants_;
  ChromosomeText chromosome_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_HTP_TEXT_H_

#ifndef TALLELE_RESULTS_WIDE_TEXT_H_
#define TALLELE_RESULTS_WIDE_TEXT_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/kept_text.h"
#include "results/result_table.h"
#include "results/text_file.h"
#include "results/trait_text.h"

namespace tallele {

// A variant over everyone whom some trait uses: what the traits of a wide row share.
struct UnionRow {
  uint32_t variant = 0;
  int32_t n = 0;
  double a1freq = 0;
  double info = 0;
  GenotypeCounts counts;  // everyone in `cases`
};

// REGENIE's --no-split file: all traits of a variant in one line, and a dictionary of the traits'
// names beside it.
//   CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ [INFO] N N_RR N_RA N_AA TEST
//   BETA.Y1 SE.Y1 CHISQ.Y1 LOG10P.Y1 BETA.Y2 ... EXTRA
// A trait that has no row for the variant is NA. EXTRA is TEST_FAIL when a trait's test failed.
class WideText {
 public:
  // `schema` and `variants` must outlive the object.
  static Result<std::unique_ptr<WideText>> Create(const std::string& prefix, bool gzip,
                                                  const std::vector<std::string>& traits,
                                                  const ResultSchema& schema,
                                                  const VariantIndex& variants,
                                                  FileEnv& env = PosixFileEnv());

  // From here on the lines are kept in `folder` as well, a file for each part.
  Result<void> KeepLines(const std::string& folder, const std::string& layout);

  // Rows of some variants of `part`; `tables` ([trait]) hold the traits' own rows of the same
  // variants.
  Result<void> Append(VariantRange part, std::span<const UnionRow> rows,
                      std::span<const ResultTable* const> tables);
  // The kept lines of a part that is complete; nothing where none are kept.
  Result<std::optional<KeptText>> FinishPart(VariantRange part);
  // Lines that an earlier attempt of the run kept.
  Result<void> Restore(std::string_view lines) { return file_->Append(lines); }

  // Publishes the dictionary, then the text.
  Result<void> Finish();

  const std::string& path() const { return file_->path(); }

 private:
  WideText(const std::string& prefix, const std::vector<std::string>& traits,
           const ResultSchema& schema, const VariantIndex& variants, FileEnv& env)
      : prefix_(prefix), traits_(traits), schema_(schema), variants_(variants), env_(env) {}

  void AppendHeader();
  void AppendUnion(const UnionRow& row);
  const char* AppendTrait(const ResultRow* row);

  const std::string prefix_;
  const std::vector<std::string> traits_;
  const ResultSchema& schema_;
  const VariantIndex& variants_;
  FileEnv& env_;
  std::unique_ptr<TextFile> file_;
  std::unique_ptr<KeptTextWriter> kept_;  // null: lines are not kept
  ChromosomeText chromosome_;
  std::string lines_;
};

// "<prefix>.regenie[.gz]" and "<prefix>.regenie.Ydict".
std::string WideTextPath(const std::string& prefix, bool gzip);
std::string TraitDictionaryPath(const std::string& prefix);

}  // namespace tallele

#endif  // TALLELE_RESULTS_WIDE_TEXT_H_

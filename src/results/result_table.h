#ifndef TALLELE_RESULTS_RESULT_TABLE_H_
#define TALLELE_RESULTS_RESULT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tallele {

// How a row's statistics were made, and whether they exist.
enum class CorrectionMethod : uint8_t { kScore, kFirthApproximate, kFirthExact, kSaddlepoint };
enum class RowStatus : uint8_t {
  kSuccess,
  kNoVariance,  // the variant does not vary once covariates are removed
  kNullFailed,  // no null model for this trait and chromosome
  kNotConverged,
  kNullFirthFailed,  // no null Firth model for this trait and chromosome
  kOneTail,          // saddlepoint of the near tail alone: the far one is negligible
};

// True for a row whose LOG10P stands.
inline bool HasStatistic(RowStatus status) {
  return status == RowStatus::kSuccess || status == RowStatus::kOneTail;
}

// One row. A statistic that does not exist is NaN.
struct ResultRow {
  uint32_t variant = 0;  // index in the genotype file
  int32_t n = 0;         // people with trait and genotype
  double a1freq = 0;
  double info = 0;        // IMPUTE's measure; may be negative; NaN for hard calls
  double info_ratio = 0;  // variance ratio; NaN where undefined
  double beta = 0;
  double se = 0;
  double chisq = 0;
  double log10p = 0;
  CorrectionMethod method = CorrectionMethod::kScore;
  RowStatus status = RowStatus::kSuccess;

  // Binary traits.
  int32_t num_cases = 0;       // cases with a genotype
  double a1freq_cases = 0;     // NaN without any
  double a1freq_controls = 0;  // likewise

  // What --htp prints beside the test.
  double minor_allele_count = 0;
  double score = 0;           // sum of genotype times residual, of the effect allele
  double score_variance = 0;  // its variance
};

// People by the nearest whole number of effect alleles.
struct GenotypeCounts {
  int32_t cases[3] = {0, 0, 0};  // everyone for a quantitative trait
  int32_t controls[3] = {0, 0, 0};
};

// Rows of one trait in variant order.
struct ResultTable {
  std::vector<ResultRow> rows;
  std::vector<GenotypeCounts> counts;  // one a row where they are asked for, else empty
};

// What all rows of a run share.
struct ResultSchema {
  const char* test = "ADD";  // ADD, DOM, REC
  bool has_info = true;      // text has an INFO column
  bool ref_first = false;    // ALLELE0 is the file's first allele
  bool float32_statistics = false;
  bool binary = false;
  bool af_cc = false;  // text has the frequencies and numbers of cases and controls

  // --htp: the cohort's name, empty for other layouts, and what its table says.
  std::string htp_cohort;
  std::string htp_model;        // "ADD-WGR-FIRTH": test, predictions, method
  bool htp_odds_ratio = false;  // Effect = exp(BETA), else the allelic odds ratio of the counts
  bool exact_p = false;         // no floor for Pval
  int num_autosomes = 22;       // for REGENIE's integer chromosome codes
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_RESULT_TABLE_H_

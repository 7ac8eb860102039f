#ifndef TALLELE_COHORT_COHORT_REQUEST_H_
#define TALLELE_COHORT_COHORT_REQUEST_H_

#include <string>
#include <vector>

#include "genotype/genotype_source.h"

namespace tallele {

enum class TraitFamily { kQuantitative, kBinary };

// How tables spell controls and cases.
enum class BinaryCoding { kZeroOne, kOneTwo };

// How gaps of several traits are treated.
enum class SampleMode {
  kPerPhenotype,  // each trait uses its own people
  kCompleteCase,  // one shared intersection over all traits (REGENIE's --strict)
};

// Who and what is analysed: tables, columns and people. Column lists hold names after
// `{i:j}` ranges were expanded; an empty list of columns means "all".
struct CohortRequest {
  TraitFamily family = TraitFamily::kQuantitative;
  BinaryCoding binary_coding = BinaryCoding::kZeroOne;
  SampleMode sample_mode = SampleMode::kPerPhenotype;

  std::string pheno_file;
  std::vector<std::string> pheno_columns;
  std::vector<std::string> pheno_exclude;

  std::string covar_file;  // empty: intercept only
  std::vector<std::string> covar_columns;
  std::vector<std::string> covar_exclude;
  std::vector<std::string> categorical_covariates;
  int max_categorical_levels = 10;

  std::vector<std::string> keep_files;
  std::vector<std::string> remove_files;
  Sex sex_filter = Sex::kUnknown;  // kUnknown: everybody

  std::vector<std::string> missing_codes;  // beyond the built-in NA, NaN, nan, "." and empty
  bool apply_rint = false;
  bool force_qt = false;
};

}  // namespace tallele

#endif  // TALLELE_COHORT_COHORT_REQUEST_H_

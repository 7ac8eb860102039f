#ifndef TALLELE_COHORT_COHORT_H_
#define TALLELE_COHORT_COHORT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "cohort/cohort_request.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Why genotyped people are not in the base set, and what else the user should be told.
struct CohortCounts {
  size_t genotyped = 0;
  size_t not_kept = 0;  // by --keep
  size_t removed = 0;   // by --remove
  size_t filtered_by_sex = 0;
  size_t not_in_pheno_file = 0;
  size_t not_in_covar_file = 0;
  size_t missing_covariate = 0;  // a selected covariate is missing
  size_t incomplete_traits = 0;  // complete-case mode only
  size_t base = 0;               // who is left
  size_t pheno_rows_not_genotyped = 0;
  size_t covar_rows_not_genotyped = 0;
};

// One trait over the base set. `problem` is empty for a trait that can be analysed, else
// the reason why it ends alone (all values missing, constant, ...).
struct TraitColumn {
  std::string name;
  std::vector<double> values;  // [base]; NaN = missing. After the rank transform if asked.
  size_t num_present = 0;
  std::string problem;
};

// The people of one level of a categorical covariate (the baseline too), or of one value of a
// numeric covariate that has two.
struct CovariateLevel {
  std::string name;           // "batch=b2", "sex=1"
  std::vector<bool> members;  // [base]
};

// The people, covariates and traits of an analysis, aligned to the genotype file.
//
// The base set is everyone who is genotyped, kept and has all covariates (in complete-case
// mode also all traits). In per-phenotype mode it does not depend on the traits, except
// that people without a row in the phenotype file are not in it.
struct Cohort {
  std::vector<uint32_t> base;          // positions in the genotype file, ascending
  std::vector<std::string> base_keys;  // FID_IID of each
  std::vector<Sex> base_sex;
  std::vector<std::string> covariate_names;     // dummies included, no intercept
  std::vector<std::vector<double>> covariates;  // [covariate][base]
  std::vector<CovariateLevel> levels;           // for messages: kept when covariates are released
  std::vector<TraitColumn> traits;              // in the order asked for
  CohortCounts counts;
};

// Reads and aligns everything that `request` names. `samples` are the genotype file's people
// in file order. Errors carry file, line, column, found and expected.
Result<Cohort> LoadCohort(const CohortRequest& request, std::span<const SampleIdentity> samples,
                          EventSink& events, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_COHORT_COHORT_H_

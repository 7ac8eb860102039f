#ifndef TALLELE_COHORT_TRAIT_TABLE_H_
#define TALLELE_COHORT_TRAIT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "cohort/cohort_request.h"
#include "cohort/sample_lookup.h"

namespace tallele {

// The chosen columns of a phenotype file, over the genotype file's people.
struct TraitTable {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  // [trait][file position]; NaN = missing
  std::vector<bool> present;                // [file position]: has a row
  size_t rows_not_genotyped = 0;
};
Result<TraitTable> ReadTraits(const CohortRequest& request, const SampleLookup& lookup,
                              size_t num_samples, EventSink& events, FileEnv& env);

// One covariate column: numbers, or categories as codes in order of first appearance.
struct CovariateColumn {
  std::string name;
  bool categorical = false;
  std::vector<double> values;       // [file position]; NaN = missing
  std::vector<std::string> levels;  // of a categorical column, by code
};

struct CovariateTable {
  std::vector<CovariateColumn> columns;
  std::vector<bool> present;  // [file position]
  std::vector<int64_t> row;   // [file position]: order in the file
  size_t rows_not_genotyped = 0;
};
// `trait_names`: a covariate of the same name as an analysed trait is left out, with a message.
Result<CovariateTable> ReadCovariates(const CohortRequest& request,
                                      const std::vector<std::string>& trait_names,
                                      const SampleLookup& lookup, size_t num_samples,
                                      EventSink& events, FileEnv& env);

}  // namespace tallele

#endif  // TALLELE_COHORT_TRAIT_TABLE_H_

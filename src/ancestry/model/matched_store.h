#ifndef TALLELE_ANCESTRY_MODEL_MATCHED_STORE_H_
#define TALLELE_ANCESTRY_MODEL_MATCHED_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ancestry/model/cohort_rows.h"
#include "base/result.h"

namespace tallele {

// Name of the matched cohort in a work folder.
inline constexpr char kMatchedStoreName[] = "matched.store";

// What a packed store of a matched cohort says besides its rows; its columns are the model's SNPs
// that the cohort has, in the model's order.
struct MatchedCohort {
  std::vector<CohortPerson> people;
  std::vector<uint32_t> model_snps;  // ascending; one per column
  std::string snps_identity;         // ModelSnps::Identity
  // Whether people may share their names; if not, the reader refuses such a store.
  bool duplicates_allowed = false;
};

// The sections to commit a packed store with, and the reader of such a store. Names of people
// must be without tabs and line ends.
std::map<std::string, std::string> MatchedSections(const MatchedCohort& cohort);
Result<std::unique_ptr<CohortRows>> OpenMatchedStore(const std::string& path);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_MATCHED_STORE_H_

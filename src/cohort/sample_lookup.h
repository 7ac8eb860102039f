#ifndef TALLELE_COHORT_SAMPLE_LOOKUP_H_
#define TALLELE_COHORT_SAMPLE_LOOKUP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_index.h"
#include "genotype/genotype_source.h"

namespace tallele {

// "FID_IID", the one string that REGENIE knows people by.
std::string PersonKey(std::string_view fid, std::string_view iid);

// Finds the genotype file's people by what tables call them. A person whose two identifiers are
// the same text X answers to X_X and to X alone: embedded BGEN identifiers are one string each,
// which tables may spell as FID_IID or as FID = IID.
class SampleLookup {
 public:
  // An error when two people have the same key (as `A_B C` and `A B_C` do).
  static Result<SampleLookup> Make(std::span<const SampleIdentity> samples);

  std::optional<uint32_t> Find(std::string_view fid, std::string_view iid) const;

 private:
  TextIndex position_of_key_;
  TextIndex position_of_single_;
};

}  // namespace tallele

#endif  // TALLELE_COHORT_SAMPLE_LOOKUP_H_

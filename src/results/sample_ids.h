#ifndef TALLELE_RESULTS_SAMPLE_IDS_H_
#define TALLELE_RESULTS_SAMPLE_IDS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// One person of an ids file.
struct PersonId {
  std::string_view family;
  std::string_view individual;
};

// "<out>_<trait>.regenie.ids".
std::string SampleIdsPath(const std::string& prefix, const std::string& trait);

// Writes the people of a trait as REGENIE's --write-samples does: "FID\tIID" lines, no header, no
// newline after the last. With `header_trait` (--print-pheno) a first line "<trait>\tNA".
Result<void> WriteSampleIds(const std::string& path, std::span<const PersonId> people,
                            const std::optional<std::string>& header_trait = std::nullopt,
                            FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_SAMPLE_IDS_H_

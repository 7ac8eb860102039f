#ifndef TALLELE_RESULTS_OUTPUT_PATHS_H_
#define TALLELE_RESULTS_OUTPUT_PATHS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/trait_output.h"

namespace tallele {

// "<out>_<trait>.regenie[.gz]"; a '/' in a trait's name becomes '_'.
std::string RegenieTextPath(const std::string& prefix, const std::string& trait, bool gzip);

// The run directory of a request: `run_directory`, or "<out>.tallele" where that is empty.
std::string RunDirectory(const OutputRequest& request);

// "part_<first>_<last>.parquet" with nine digits each; `last` is the last variant of the part.
std::string PartFileName(VariantRange part);

// Files of an earlier run that this one would replace: the REGENIE texts that exist. REGENIE
// overwrites them without a word; the caller warns.
std::vector<std::string> FilesToReplace(const OutputRequest& request,
                                        const std::vector<std::string>& traits);

// Writes a small text file such as "effective_config.toml" into the run directory (made where
// missing), complete or not at all.
Result<void> WriteRunFile(const std::string& run_directory, const std::string& name,
                          std::string_view text, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_OUTPUT_PATHS_H_

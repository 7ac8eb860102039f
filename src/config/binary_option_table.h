#ifndef TALLELE_CONFIG_BINARY_OPTION_TABLE_H_
#define TALLELE_CONFIG_BINARY_OPTION_TABLE_H_

#include <vector>

#include "base/result.h"
#include "config/option_spec.h"

namespace tallele {

// Options of binary traits alone: null models, corrections, solvers' limits.
std::vector<OptionSpec> BinaryOptionSpecs();

// Joins what --firth, --approx, --spa and --binary-fallback say into one correction. Errors:
// contradictions, options without effect.
Result<void> ChooseCorrection(RegenieSettings& settings);

}  // namespace tallele

#endif  // TALLELE_CONFIG_BINARY_OPTION_TABLE_H_

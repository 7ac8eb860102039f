#ifndef TALLELE_CONFIG_COLUMN_NAMES_H_
#define TALLELE_CONFIG_COLUMN_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tallele {

// Splits at commas and trims blanks. An empty entry is an error that gives its 1-based
// position.
Result<std::vector<std::string>> SplitCommaList(std::string_view text);

// "PC{1:10}" is PC1 to PC10 (`regenie.md` 1.1). A name without braces stands for itself.
// Several ranges in one name give every combination. Errors: braces that are not `{i:j}`
// with i <= j, or more than 100,000 names.
Result<std::vector<std::string>> ExpandColumnRanges(const std::string& name);

}  // namespace tallele

#endif  // TALLELE_CONFIG_COLUMN_NAMES_H_

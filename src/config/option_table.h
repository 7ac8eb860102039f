#ifndef TALLELE_CONFIG_OPTION_TABLE_H_
#define TALLELE_CONFIG_OPTION_TABLE_H_

#include <span>
#include <string_view>

#include "config/option_spec.h"

namespace tallele {

// Every option of `tallele regenie`, grouped, in the order of the help.
std::span<const OptionSpec> RegenieOptions();

// The option that `flag` (with its dashes) or a TOML key belongs to; null when there is none.
const OptionSpec* FindFlag(std::string_view flag);
const OptionSpec* FindKey(std::string_view section, std::string_view key);

// The option that is `section.key` itself, which must exist.
const OptionSpec& OptionByKey(std::string_view section, std::string_view key);

}  // namespace tallele

#endif  // TALLELE_CONFIG_OPTION_TABLE_H_

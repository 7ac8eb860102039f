#ifndef TALLELE_CONFIG_REFUSED_OPTIONS_H_
#define TALLELE_CONFIG_REFUSED_OPTIONS_H_

#include <string>
#include <string_view>

namespace tallele {

// Why an option of REGENIE 4.1.2 (with its dashes) is refused and what to do instead; empty for
// any other name.
std::string WhyFlagIsRefused(std::string_view flag);

// Likewise for a TOML key of the reference engine or of its pre-releases.
std::string WhyKeyIsRefused(std::string_view key);

}  // namespace tallele

#endif  // TALLELE_CONFIG_REFUSED_OPTIONS_H_

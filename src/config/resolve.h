#ifndef TALLELE_CONFIG_RESOLVE_H_
#define TALLELE_CONFIG_RESOLVE_H_

#include <string>
#include <vector>

#include "config/option_layer.h"
#include "config/option_spec.h"

namespace tallele {

// The options of a run after defaults, configuration file and flags were merged.
struct ResolvedOptions {
  RegenieSettings settings;
  std::vector<std::string> notes;  // options that do nothing here
  std::string effective_toml;      // running with this file alone repeats the run
};

// Merges defaults < TOML (the file of --config, if there is one) < flags: an omitted flag never
// resets, a list replaces. Then checks what options say together, and that input files exist.
Result<ResolvedOptions> ResolveOptions(const OptionLayer& flags);

}  // namespace tallele

#endif  // TALLELE_CONFIG_RESOLVE_H_

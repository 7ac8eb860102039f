#ifndef TALLELE_CONFIG_HELP_TEXT_H_
#define TALLELE_CONFIG_HELP_TEXT_H_

#include <string>

namespace tallele {

// The options of `tallele regenie` by group, for a terminal.
std::string RegenieHelp();

// The same as a page of Markdown, with TOML keys: docs/reference/regenie-options.md.
std::string RegenieReferencePage();

}  // namespace tallele

#endif  // TALLELE_CONFIG_HELP_TEXT_H_

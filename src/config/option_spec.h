#ifndef TALLELE_CONFIG_OPTION_SPEC_H_
#define TALLELE_CONFIG_OPTION_SPEC_H_

#include <limits>
#include <string>
#include <vector>

#include "assoc/scan_request.h"
#include "base/result.h"

namespace tallele {

enum class OptionType {
  kFlag,  // present or not; TOML boolean
  kInteger,
  kNumber,
  kText,
  kChoice,  // one of OptionSpec::choices
  kPath,
  kPathList,    // comma-separated and repeatable; TOML array of strings
  kTextList,    // likewise
  kColumnList,  // likewise; `{i:j}` ranges expanded, names unique
};

// A checked value in canonical text: numbers as the shortest text that reads back the same,
// flags as "true" or "false", lists as one item per element.
struct OptionValue {
  std::vector<std::string> items;

  const std::string& Text() const { return items.front(); }
  bool Truth() const { return items.front() == "true"; }
  double Number() const;
  int Integer() const;
};

// What a finished command line and configuration say.
struct RegenieSettings {
  ScanRequest scan;
  // Spellings of a binary trait's correction, joined by ChooseCorrection.
  bool firth = false;
  bool approx = false;
  bool spa = false;
  std::string binary_fallback;
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
};

// Another spelling of an option on the command line. With `value` it is a switch that stands
// for that value (`--bt` is trait_type = "binary").
struct FlagSpelling {
  std::string name;  // with its dashes
  std::string value = {};
};

// Another TOML key that stands for a value of the option: `from` is what the file says.
// A boolean `false` that no alias names says nothing.
struct KeyAlias {
  std::string key;
  std::string from;
  std::string value = {};
};

// A possible value of a kChoice option; with `refusal` it is known but not accepted, and the
// text says why and what to do instead.
struct Choice {
  std::string value = {};
  std::string refusal = {};
};

// The one declaration of an option: everything that flags, TOML, help, the effective
// configuration and the reference page need.
struct OptionSpec {
  std::string group;
  std::vector<FlagSpelling> flags;  // the first is the main one; may be empty (TOML only)
  std::string section;              // TOML; empty for a command-line-only option
  std::string key;
  std::vector<KeyAlias> aliases = {};
  OptionType type = OptionType::kText;
  std::string placeholder = {};  // of the value, in help
  std::string help;
  std::string default_value = {};  // canonical text; empty: unset
  std::string default_note = {};   // what unset means
  bool changes_results = true;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<Choice> choices = {};
  bool binary_only = false;  // refused with quantitative traits
  void (*apply)(const OptionValue&, RegenieSettings&) = nullptr;  // null: checked only
};

bool IsList(OptionType type);

// Checks the texts given for an option and makes them canonical. `shown_name` is how the user
// spelled it. `split_commas`: list items come from a comma-separated text. Errors: kUsage.
Result<OptionValue> ParseOptionValue(const OptionSpec& spec, const std::string& shown_name,
                                     const std::vector<std::string>& texts, bool split_commas);

}  // namespace tallele

#endif  // TALLELE_CONFIG_OPTION_SPEC_H_

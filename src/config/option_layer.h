#ifndef TALLELE_CONFIG_OPTION_LAYER_H_
#define TALLELE_CONFIG_OPTION_LAYER_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/option_spec.h"

namespace tallele {

// One value that a layer (a file, a command line) gives, and how the user spelled it.
struct GivenOption {
  OptionValue value;
  std::string spelled;
};

// What one layer says; options it does not name are absent.
struct OptionLayer {
  std::map<const OptionSpec*, GivenOption> given;

  bool Has(const OptionSpec& spec) const { return given.contains(&spec); }
};

// Reads the arguments of `tallele regenie` (without program and command). REGENIE's command lines
// are accepted as they are; an option of REGENIE that is not available here, an unknown one, and a
// word that belongs to no option are kUsage errors that say what to do.
Result<OptionLayer> ParseCommandLine(std::span<const std::string> arguments);

// Reads a TOML file of options. Unknown sections and keys, wrong types and refused keys are kConfig
// errors that give file, line and the nearest valid name.
Result<OptionLayer> ReadTomlLayer(const std::string& path);

}  // namespace tallele

#endif  // TALLELE_CONFIG_OPTION_LAYER_H_

#ifndef TALLELE_CLI_PARSE_WORDS_H_
#define TALLELE_CLI_PARSE_WORDS_H_

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// Reads the words of a command into the options declared on `app`, whose name is "tallele ...".
// Prints the help or the error; gives the exit code when the command ends here.
std::optional<int> ParseWords(CLI::App& app, std::span<const std::string> arguments);

// "78,79" as whole numbers; `flag` names the option in errors.
Result<std::vector<int64_t>> ParseIntegerList(const std::string& text, const std::string& flag);

// "0.1,0.5" as finite numbers.
Result<std::vector<double>> ParseNumberList(const std::string& text, const std::string& flag);

}  // namespace tallele

#endif  // TALLELE_CLI_PARSE_WORDS_H_

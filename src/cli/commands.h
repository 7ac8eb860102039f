#ifndef TALLELE_CLI_COMMANDS_H_
#define TALLELE_CLI_COMMANDS_H_

#include <span>
#include <string>

#include "base/cancel_token.h"

namespace tallele {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitPartial = 3;

// Each command takes the words after its name and returns the exit code. Errors are printed as one
// line on standard error.
int RegenieCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int BatchCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int CheckRunCommand(std::span<const std::string> arguments);
int InspectCommand(std::span<const std::string> arguments);
int ProfileReportCommand(std::span<const std::string> arguments);
int SimulateCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int SimulateAncestryCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int VersionCommand();

// Prints "Error: ..." and returns the exit code of its kind; an interruption gives 128 + signal.
struct Error;
int Fail(const Error& error, int signal_number = 0);

}  // namespace tallele

#endif  // TALLELE_CLI_COMMANDS_H_

#ifndef TALLELE_CLI_VERSION_H_
#define TALLELE_CLI_VERSION_H_

#include <string>

namespace tallele {

// Set by the build from the project's version.
inline constexpr char kVersion[] = TALLELE_VERSION;

// Names of the instruction sets that this machine can run.
std::string InstructionSets();

}  // namespace tallele

#endif  // TALLELE_CLI_VERSION_H_

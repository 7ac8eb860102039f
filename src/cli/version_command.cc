#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/version.h"
#include "kernels/cpu_target.h"

namespace tallele {

std::string InstructionSets() {
  std::string names;
  for (const CpuTarget target : SupportedCpuTargets()) {
    names += (names.empty() ? "" : ", ") + std::string(CpuTargetName(target));
  }
  return names;
}

int VersionCommand() {
  const auto target = ChooseCpuTarget();
  if (!target.ok()) return Fail(target.error());
  fmt::print("tallele {}\ncompiler: {}\ninstruction set in use: {}\nthis machine can run: {}\n",
             kVersion, __VERSION__, CpuTargetName(*target), InstructionSets());
  return kExitSuccess;
}

}  // namespace tallele

#ifndef TALLELE_KERNELS_CPU_TARGET_H_
#define TALLELE_KERNELS_CPU_TARGET_H_

#include <span>
#include <string_view>

#include "base/result.h"

namespace tallele {

// Instruction sets that the exact kernels are written for, slowest first.
enum class CpuTarget { kScalar, kAvx2, kAvxVnni, kAvx512Vnni, kAmx };

// "scalar", "avx2", "avxvnni", "avx512vnni", "amx".
std::string_view CpuTargetName(CpuTarget target);

// Targets that this machine can run (CPUID, operating system state, and for AMX the
// kernel's permission), slowest first. `kScalar` is always among them.
std::span<const CpuTarget> SupportedCpuTargets();

// Every target that this program has code for, whether or not the machine runs it.
std::span<const CpuTarget> AllCpuTargets();

// The target to use: the fastest supported one, or the one that the environment
// variable TALLELE_CPU_TARGET names. An unknown name, or one that the machine cannot
// run, is a usage error that lists the possible values.
Result<CpuTarget> ChooseCpuTarget();

}  // namespace tallele

#endif  // TALLELE_KERNELS_CPU_TARGET_H_

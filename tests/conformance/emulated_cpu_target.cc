// Stands in for kernels/cpu_target.cc: an emulated machine runs every instruction set.
#include "kernels/cpu_target.h"

#include <array>

namespace tallele {
namespace {

constexpr std::array kTargets = {CpuTarget::kScalar, CpuTarget::kAvx2, CpuTarget::kAvxVnni,
                                 CpuTarget::kAvx512Vnni, CpuTarget::kAmx};
constexpr std::array kNames = {"scalar", "avx2", "avxvnni", "avx512vnni", "amx"};

}  // namespace

std::string_view CpuTargetName(CpuTarget target) { return kNames[static_cast<size_t>(target)]; }
std::span<const CpuTarget> SupportedCpuTargets() { return kTargets; }
std::span<const CpuTarget> AllCpuTargets() { return kTargets; }
Result<CpuTarget> ChooseCpuTarget() { return CpuTarget::kAmx; }

}  // namespace tallele

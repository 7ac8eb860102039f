#include "kernels/cpu_target.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace tallele {
namespace {

constexpr std::array kAllTargets = {CpuTarget::kScalar, CpuTarget::kAvx2, CpuTarget::kAvxVnni,
                                    CpuTarget::kAvx512Vnni, CpuTarget::kAmx};

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf Cpuid(unsigned leaf, unsigned subleaf) {
  Leaf r;
  if (__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) return Leaf{};
  return r;
}

// Which register states the operating system saves (XCR0).
uint64_t SavedStates() {
  if ((Cpuid(1, 0).c & (1u << 27)) == 0) return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

bool Has(unsigned word, int bit) { return (word >> bit & 1) != 0; }

// The kernel hands out AMX tile data only to processes that ask (arch_prctl, since Linux 5.16).
bool AskForTileData() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<CpuTarget> Detect() {
  std::vector<CpuTarget> targets = {CpuTarget::kScalar};
  const Leaf one = Cpuid(1, 0), seven = Cpuid(7, 0), seven_one = Cpuid(7, 1);
  const uint64_t states = SavedStates();
  const bool avx2 = (states & 0x6) == 0x6 && Has(one.c, 12) && Has(seven.b, 5) && Has(seven.b, 3) &&
                    Has(seven.b, 8);
  if (!avx2) return targets;
  targets.push_back(CpuTarget::kAvx2);
  if (Has(seven_one.a, 4)) targets.push_back(CpuTarget::kAvxVnni);
  // F, DQ, BW, VL and VNNI.
  const bool avx512 = (states & 0xe6) == 0xe6 && Has(seven.b, 16) && Has(seven.b, 17) &&
                      Has(seven.b, 30) && Has(seven.b, 31) && Has(seven.c, 11);
  if (!avx512) return targets;
  targets.push_back(CpuTarget::kAvx512Vnni);
  const bool amx = (states & 0x60000) == 0x60000 && Has(seven.d, 24) && Has(seven.d, 25);
  if (amx && AskForTileData()) targets.push_back(CpuTarget::kAmx);
  return targets;
}

std::string Names(std::span<const CpuTarget> targets) {
  std::string names;
  for (const CpuTarget target : targets) {
    if (!names.empty()) names += ", ";
    names += CpuTargetName(target);
  }
  return names;
}

}  // namespace

std::string_view CpuTargetName(CpuTarget target) {
  switch (target) {
    case CpuTarget::kScalar:
      return "scalar";
    case CpuTarget::kAvx2:
      return "avx2";
    case CpuTarget::kAvxVnni:
      return "avxvnni";
    case CpuTarget::kAvx512Vnni:
      return "avx512vnni";
    case CpuTarget::kAmx:
      return "amx";
  }
  return "scalar";
}

std::span<const CpuTarget> SupportedCpuTargets() {
  static const std::vector<CpuTarget> targets = Detect();
  return targets;
}

std::span<const CpuTarget> AllCpuTargets() { return kAllTargets; }

Result<CpuTarget> ChooseCpuTarget() {
  const std::span<const CpuTarget> supported = SupportedCpuTargets();
  const char* wish = std::getenv("TALLELE_CPU_TARGET");
  if (wish == nullptr || *wish == '\0') return supported.back();
  for (const CpuTarget target : supported) {
    if (CpuTargetName(target) == wish) return target;
  }
  bool known = false;
  for (const CpuTarget target : kAllTargets) known |= CpuTargetName(target) == wish;
  Error error = UsageError(known ? "this machine cannot run the instruction set that was asked for"
                                 : "unknown instruction set",
                           "Set TALLELE_CPU_TARGET to one of them, or unset it.");
  error.where = "environment variable TALLELE_CPU_TARGET";
  error.found = wish;
  error.expected = "one of " + Names(supported);
  return error;
}

}  // namespace tallele

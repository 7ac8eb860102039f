#ifndef TALLELE_BASE_WORKER_COUNT_H_
#define TALLELE_BASE_WORKER_COUNT_H_

#include <cstdint>
#include <string>

namespace tallele {

// What this process may use, which on shared machines is less than what the machine has.
struct MachineLimits {
  int num_cpus = 1;               // affinity mask and cgroup quota, rounded up, at least 1
  std::int64_t memory_bytes = 0;  // available now: /proc/meminfo and cgroup limit; 0: unknown
};

// Limits of the calling process. `root` stands before /proc and /sys, for tests.
MachineLimits ReadMachineLimits(const std::string& root = "");

// Shorthands.
int EffectiveCpuCount();
std::int64_t AvailableMemoryBytes();

}  // namespace tallele

#endif  // TALLELE_BASE_WORKER_COUNT_H_

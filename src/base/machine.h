#ifndef TALLELE_BASE_MACHINE_H_
#define TALLELE_BASE_MACHINE_H_

#include <cstdint>

namespace tallele {

// Processors that this process may use: its affinity mask, limited by a cgroup quota.
int AvailableProcessors();

// Bytes of memory that this process may still take: the machine's available memory, limited by
// a cgroup. 0 when it cannot be told.
uint64_t AvailableMemory();

// CPU seconds of the calling thread, and peak resident bytes of the process.
double ThreadCpuSeconds();
uint64_t PeakMemory();

}  // namespace tallele

#endif  // TALLELE_BASE_MACHINE_H_

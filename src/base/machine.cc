#include "base/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace tallele {
namespace {

// The first number of a one-line file of the kernel; negative when there is none ("max").
double FirstNumber(const char* path, double* second = nullptr) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word.find_first_not_of("0123456789") != std::string::npos) return -1;
  if (second != nullptr) file >> *second;
  return std::stod(word);
}

int QuotaProcessors() {
  double period = 0;
  double quota = FirstNumber("/sys/fs/cgroup/cpu.max", &period);
  if (quota <= 0) {
    quota = FirstNumber("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    period = FirstNumber("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

}  // namespace

int AvailableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int quota = QuotaProcessors();
  if (quota > 0) count = std::min(count, quota);
  return std::max(count, 1);
}

uint64_t AvailableMemory() {
  uint64_t available = 0;
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  uint64_t kilobytes = 0;
  for (std::string unit; meminfo >> key >> kilobytes; std::getline(meminfo, unit)) {
    if (key == "MemAvailable:") {
      available = kilobytes * 1024;
      break;
    }
  }
  const double limit = FirstNumber("/sys/fs/cgroup/memory.max");
  const double used = FirstNumber("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0 && limit > used) {
    available = std::min(available, static_cast<uint64_t>(limit - used));
  }
  return available;
}

double ThreadCpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

uint64_t PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace tallele

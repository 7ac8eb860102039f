#ifndef TALLELE_RESULTS_SCAN_PROFILE_H_
#define TALLELE_RESULTS_SCAN_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// Where the time of a scan went. Seconds of a stage are summed over the threads that worked in it:
// stages overlap, so their sum is thread time and not the time on the clock.
struct ScanProfile {
  struct Stage {
    double seconds = 0;
    size_t calls = 0;
  };
  Stage fit;      // null models; in the reading stage, one thread
  Stage read;     // stored bytes; one thread at a time
  Stage decode;   // inflating and unpacking; all threads
  Stage test;     // products, statistics, refinement; all threads
  Stage write;    // encoding rows; one thread at a time
  Stage publish;  // syncing, renaming and recording parts; one thread at a time

  double wall_seconds = 0;
  int threads = 0;
  size_t traits = 0;
  size_t variants = 0;
  uint64_t input_bytes = 0;   // of the genotype file, all of it
  uint64_t output_bytes = 0;  // of the parts of this attempt
  uint64_t peak_memory_bytes = 0;

  double BusySeconds() const;
  // Thread time without work: waiting for another stage or for the end.
  double WaitingSeconds() const;
};

// `logs/profile.json` of a run folder (docs/formats/telemetry.md).
Result<void> WriteProfile(const ScanProfile& profile, const std::string& path,
                          FileEnv& env = PosixFileEnv());
Result<ScanProfile> ReadProfile(const std::string& path, FileEnv& env = PosixFileEnv());

// The profile for a reader: a table, what bounds the run, and what can be done about it.
std::vector<std::string> DescribeProfile(const ScanProfile& profile);

}  // namespace tallele

#endif  // TALLELE_RESULTS_SCAN_PROFILE_H_

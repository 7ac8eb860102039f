#ifndef TALLELE_ASSOC_DRY_RUN_H_
#define TALLELE_ASSOC_DRY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assoc/scan.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// What a planned scan will take, from some of its blocks.
struct ScanForecast {
  struct Chromosome {
    std::string label;
    size_t num_variants = 0;
    double seconds = 0;  // on the clock, null models included
    uint64_t output_bytes = 0;
  };
  std::vector<Chromosome> chromosomes;
  size_t sampled_variants = 0;
  double seconds_per_variant = 0;  // of one thread
  uint64_t memory_bytes = 0;       // of the process at its peak
  uint64_t output_bytes = 0;       // of everything
  double seconds = 0;
};

// Reads, decodes and tests up to two blocks on up to four chromosomes, on one thread, for at most
// about ten seconds, and writes nothing. The forecast assumes that threads share the work evenly
// and that nothing waits for the disk.
Result<ScanForecast> ForecastScan(const ScanPlan& plan);

}  // namespace tallele

#endif  // TALLELE_ASSOC_DRY_RUN_H_

#ifndef TALLELE_SIMULATE_STREAMS_H_
#define TALLELE_SIMULATE_STREAMS_H_

#include <cstdint>

namespace tallele {

// Every purpose draws from random streams of its own, so that one option never changes what another
// draws: stream = purpose << 40 | item.
enum class Purpose : uint64_t {
  kPeople = 1,
  kVariants,
  kArrayVariants,
  kFounders,
  kSegments,
  kGenotypes,
  kImputation,
  kMissing,
  kEffects,
  kTraits,
  kCovariates,
  kGaps,
  kPredictions,
  kArrayGenotypes,
  kArrayMissing,
  kPanelFrequencies,
  kPanelPeople,
  kPanelGenotypes,
};

inline uint64_t StreamOf(Purpose purpose, uint64_t item) {
  return static_cast<uint64_t>(purpose) << 40 | item;
}

}  // namespace tallele

#endif  // TALLELE_SIMULATE_STREAMS_H_

#ifndef TALLELE_ASSOC_STAGE_CLOCK_H_
#define TALLELE_ASSOC_STAGE_CLOCK_H_

#include <chrono>

#include "results/scan_profile.h"

namespace tallele {

// Adds the time of its life to a stage; does nothing, not even read the clock, for a null stage.
class StageClock {
 public:
  explicit StageClock(ScanProfile::Stage* stage) : stage_(stage) {
    if (stage_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  ~StageClock() {
    if (stage_ == nullptr) return;
    stage_->seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    ++stage_->calls;
  }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

 private:
  ScanProfile::Stage* stage_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_STAGE_CLOCK_H_

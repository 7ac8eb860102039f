// Protects: without --telemetry profile a scan measures nothing. The clock of a stage neither
// allocates nor counts, and the summary holds no profile.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "assoc/stage_clock.h"
#include "tests/crash/small_run.h"

namespace {
std::atomic<size_t> num_allocations{0};
}  // namespace

// Every allocation of this program is counted.
void* operator new(size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tallele::crash {
namespace {

TEST(TelemetryOff, A57AStageWithoutAProfileAllocatesNothing) {
  const size_t before = num_allocations;
  auto* const counted = new int(0);
  ASSERT_EQ(num_allocations, before + 1) << "allocations are not counted";
  delete counted;
  const size_t at_start = num_allocations;
  for (int i = 0; i < 1000; ++i) const StageClock clock(nullptr);
  EXPECT_EQ(num_allocations, at_start);
}

TEST(TelemetryOff, A57OnlyProfilingRunsHaveAProfile) {
  SmallCohort cohort;
  for (const Telemetry mode : {Telemetry::kOff, Telemetry::kProgress, Telemetry::kProfile}) {
    ScanRequest request = cohort.Request("mode" + std::to_string(static_cast<int>(mode)));
    request.safety.telemetry = mode;
    const auto done = Attempt(request);
    ASSERT_TRUE(done.ok()) << done.error().Message();
    ASSERT_EQ(done->profile.has_value(), mode == Telemetry::kProfile);
    if (!done->profile) continue;
    // One call for each block that was decoded, tested and written, and one for each part.
    EXPECT_GE(done->profile->decode.calls, SmallCohort::kParts);
    EXPECT_EQ(done->profile->test.calls, done->profile->decode.calls);
    EXPECT_EQ(done->profile->publish.calls, SmallCohort::kParts);
    EXPECT_GT(done->profile->test.seconds, 0);
  }
}

}  // namespace
}  // namespace tallele::crash

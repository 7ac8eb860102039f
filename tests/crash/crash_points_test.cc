// Protects: whatever moment a run dies at, the next --resume gives the dataset and the texts of an
// uninterrupted run, byte for byte. The reference is an uninterrupted run of the same program; its
// numbers are the golden tests' matter.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "results/check_run.h"
#include "tests/crash/crash_file_env.h"
#include "tests/crash/small_run.h"

namespace tallele::crash {
namespace {

constexpr int kSlices = 4;  // of the points, so that they run beside each other
constexpr Fault kKills[] = {Fault::kKillBefore, Fault::kKillHalfway, Fault::kKillAfter};

// Points are spread when TALLELE_CRASH_STRIDE is above 1; the default covers every one.
int64_t Stride() {
  const char* text = std::getenv("TALLELE_CRASH_STRIDE");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

class CrashPoints : public testing::Test {
 protected:
  void SetUp() override {
    ScanRequest request = cohort_.Request("reference");
    CrashFileEnv env;
    request.safety.env = &env;
    const auto done = Attempt(request);
    ASSERT_TRUE(done.ok()) << done.error().Message();
    num_operations_ = env.num_operations();
    reference_ = ResultBytes(request);
    ASSERT_EQ(reference_.size(), SmallCohort::kTraits * (SmallCohort::kParts + 2));
  }

  void Clean() {
    for (const auto& entry : std::filesystem::directory_iterator(cohort_.folder().path())) {
      if (entry.path().filename().string().starts_with("run")) {
        std::filesystem::remove_all(entry.path());
      }
    }
  }

  // One attempt that is killed; true when the kill came before its end.
  bool Killed(ScanRequest request, Fault fault, int64_t at, bool power_cut) {
    CrashFileEnv env(fault, at);
    request.safety.env = &env;
    const auto done = Attempt(request);
    EXPECT_EQ(done.ok(), !env.struck()) << "operation " << at;
    if (power_cut && env.struck()) env.PowerCut();
    return env.struck();
  }

  void ExpectResumeCompletes(ScanRequest request, const std::string& what) {
    CrashFileEnv env;  // without real syncs
    request.safety.env = &env;
    request.safety.existing = ExistingRun::kResume;
    const auto done = Attempt(request);
    ASSERT_TRUE(done.ok()) << what << ": " << done.error().Message();
    const auto bytes = ResultBytes(request);
    ASSERT_EQ(bytes.size(), reference_.size()) << what;
    for (const auto& [name, content] : reference_) {
      ASSERT_TRUE(bytes.contains(name)) << what << ": " << name;
      ASSERT_TRUE(bytes.at(name) == content) << what << ": " << name;
    }
    const auto check = CheckRun(request.out + ".tallele");
    ASSERT_TRUE(check.ok()) << check.error().Message();
    ASSERT_TRUE(check->problems.empty()) << what << ": " << check->problems.front();
    ASSERT_TRUE(check->completed) << what;
  }

  SmallCohort cohort_;
  int64_t num_operations_ = 0;
  std::map<std::string, std::string> reference_;
};

// A42: every write, sync, rename, removal and folder once, with the three moments around it and
// with and without the loss of unsynced data taking turns.
class EveryCrashPoint : public CrashPoints, public testing::WithParamInterface<int> {};

TEST_P(EveryCrashPoint, A42EveryPointOnce) {
  int64_t covered = 0;
  for (int64_t at = GetParam(); at < num_operations_; at += kSlices * Stride()) {
    const Fault fault = kKills[at % 3];
    const bool power_cut = at / 3 % 2 == 1;
    const ScanRequest request = cohort_.Request("run");
    ASSERT_TRUE(Killed(request, fault, at, power_cut));
    ExpectResumeCompletes(request, "killed at operation " + std::to_string(at));
    if (HasFatalFailure()) return;
    Clean();
    ++covered;
  }
  std::printf("killed and resumed at %lld of %lld operations\n", static_cast<long long>(covered),
              static_cast<long long>(num_operations_));
}

INSTANTIATE_TEST_SUITE_P(Slices, EveryCrashPoint, testing::Range(0, kSlices));

// A42, A50, A51: up to three kills at random points, each attempt with its own threads and block
// width, which are in no plan.
TEST_F(CrashPoints, A42RandomKillsWithOtherThreadsAndBlocksOnEachLeg) {
  constexpr int kTrials = 40;
  std::mt19937_64 random(20260131);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int kills = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    ScanRequest request = cohort_.Request("run");
    const int64_t legs = 1 + below(3);
    for (int64_t leg = 0; leg < legs; ++leg) {
      request.threads = static_cast<int>(1 + below(3));
      request.block_size = static_cast<size_t>(1 + below(25));
      kills += Killed(request, kKills[below(3)], below(num_operations_), below(2) == 1);
      request.safety.existing = ExistingRun::kResume;
    }
    request.threads = static_cast<int>(1 + below(3));
    request.block_size = static_cast<size_t>(1 + below(25));
    ExpectResumeCompletes(request, "trial " + std::to_string(trial));
    if (HasFatalFailure()) return;
    Clean();
  }
  std::printf("%d kills in %d trials\n", kills, kTrials);
}

// A run that replaces another is killed anywhere: a second --overwrite always completes.
TEST_F(CrashPoints, OverwriteKilledAnywhere) {
  int covered = 0;
  for (int64_t at = 0; at < num_operations_ + 70; at += 41) {
    ScanRequest request = cohort_.Request("run");
    request.min_mac = 7;
    ASSERT_TRUE(Attempt(request).ok());
    request.min_mac = 3;
    request.safety.existing = ExistingRun::kOverwrite;
    Killed(request, kKills[at % 3], at, at % 2 == 1);
    const auto done = Attempt(request);
    ASSERT_TRUE(done.ok()) << done.error().Message();
    ASSERT_TRUE(ResultBytes(request) == reference_) << at;
    Clean();
    ++covered;
  }
  std::printf("an overwriting run was killed at %d points\n", covered);
}

}  // namespace
}  // namespace tallele::crash

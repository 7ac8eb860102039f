// Protects: a disk that fails in any of the ways that disks fail ends a run with an error, never
// with success and a row missing; and once the disk works again --resume gives the whole dataset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "results/check_run.h"
#include "tests/crash/crash_file_env.h"
#include "tests/crash/small_run.h"

namespace tallele::crash {
namespace {

namespace fs = std::filesystem;

struct Case {
  Fault fault;
  const char* name;
};

class Faults : public testing::TestWithParam<Case> {};

TEST_P(Faults, EndWithAnErrorOrWithEverything) {
  SmallCohort cohort;
  ScanRequest reference_request = cohort.Request("reference");
  CrashFileEnv counting;
  reference_request.safety.env = &counting;
  ASSERT_TRUE(Attempt(reference_request).ok());
  const auto reference = ResultBytes(reference_request);
  int failed = 0;
  int tried = 0;
  for (int64_t at = 0; at < counting.num_operations(); at += 29) {
    ScanRequest request = cohort.Request("run" + std::to_string(at));
    CrashFileEnv env(GetParam().fault, at);
    env.set_folder_to_remove(request.out + ".tallele");
    request.safety.env = &env;
    const auto done = Attempt(request);
    ++tried;
    if (done.ok()) {
      ASSERT_TRUE(ResultBytes(request) == reference) << "success with something missing, " << at;
      continue;
    }
    ++failed;
    EXPECT_FALSE(done.error().Message().empty());
    CrashFileEnv healthy;
    request.safety.env = &healthy;
    request.safety.existing = ExistingRun::kResume;
    const auto resumed = Attempt(request);
    ASSERT_TRUE(resumed.ok()) << at << ": " << resumed.error().Message();
    ASSERT_TRUE(ResultBytes(request) == reference) << at;
    const auto check = CheckRun(request.out + ".tallele");
    ASSERT_TRUE(check.ok());
    ASSERT_TRUE(check->problems.empty()) << at << ": " << check->problems.front();
    fs::remove_all(request.out + ".tallele");
  }
  std::printf("%s: %d of %d runs failed, all could be resumed\n", GetParam().name, failed, tried);
  EXPECT_GT(failed, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Disk, Faults,
    testing::Values(Case{Fault::kNoSpace, "NoSpace"}, Case{Fault::kIoError, "IoError"},
                    Case{Fault::kOneFailure, "OneFailure"}, Case{Fault::kReadOnly, "ReadOnly"},
                    Case{Fault::kRenameLost, "RenameLost"}, Case{Fault::kFolderGone, "FolderGone"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tallele::crash

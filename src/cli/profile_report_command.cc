#include <cstdio>

#include "cli/commands.h"
#include "results/run_folder.h"
#include "results/scan_profile.h"

namespace tallele {
namespace {

constexpr char kHelp[] =
    "tallele profile-report: where the time of a run went\n\n"
    "  tallele profile-report DIR\n\n"
    "DIR is the run folder <out>.tallele of a run with --telemetry profile. Prints the time of "
    "each\n"
    "stage, what bounds the run, and what can be done about it.\n";

}  // namespace

int ProfileReportCommand(std::span<const std::string> arguments) {
  std::string folder;
  for (const std::string& word : arguments) {
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return kExitSuccess;
    }
    if (word.starts_with('-') || !folder.empty()) {
      return Fail(
          UsageError("profile-report does not know " + word, "Usage: tallele profile-report DIR"));
    }
    folder = word;
  }
  if (folder.empty()) {
    return Fail(UsageError("no run folder is given", "Usage: tallele profile-report DIR"));
  }
  const auto profile = ReadProfile(folder + "/logs/" + kProfileName);
  if (!profile.ok()) {
    Error error = profile.error();
    if (error.advice.empty()) error.advice = "Run the scan with --telemetry profile.";
    return Fail(error);
  }
  for (const std::string& line : DescribeProfile(*profile)) std::printf("%s\n", line.c_str());
  return kExitSuccess;
}

}  // namespace tallele

#include <fmt/format.h>

#include <cstdio>

#include "base/format_number.h"
#include "cli/commands.h"
#include "results/check_run.h"

namespace tallele {
namespace {

constexpr char kHelp[] =
    "tallele check-run: is a run folder as its manifests say?\n\n"
    "  tallele check-run DIR\n\n"
    "DIR is the folder <out>.tallele of a run, or the folder of one of its traits. Reads every "
    "part\n"
    "and no genotypes: presence, size, SHA-256, columns, rows and range of each part, parts that\n"
    "nobody recorded, and whether the traits belong together.\n\n"
    "Exit codes: 0 the run is finished and all is as recorded, 1 something is wrong (one line "
    "each),\n"
    "3 all is as recorded and the run is not finished.\n";

void PrintTrait(const CheckedTrait& trait) {
  fmt::print("{}: {}, {} of {} parts, {} rows\n", trait.folder, RunStatusName(trait.status),
             trait.num_parts, trait.num_grid,
             FormatThousands(static_cast<int64_t>(trait.num_rows)));
}

}  // namespace

int CheckRunCommand(std::span<const std::string> arguments) {
  std::string folder;
  for (const std::string& word : arguments) {
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return kExitSuccess;
    }
    if (word.starts_with('-') || !folder.empty()) {
      return Fail(UsageError("check-run does not know " + word, "Usage: tallele check-run DIR"));
    }
    folder = word;
  }
  if (folder.empty()) {
    return Fail(UsageError("no run folder is given", "Usage: tallele check-run DIR"));
  }
  const auto check = CheckRun(folder);
  if (!check.ok()) return Fail(check.error());
  for (const CheckedTrait& trait : check->traits) PrintTrait(trait);
  for (const std::string& problem : check->problems) fmt::print("wrong: {}\n", problem);
  if (!check->problems.empty()) {
    fmt::print("{} problem{}\n", check->problems.size(), check->problems.size() == 1 ? "" : "s");
    return 1;
  }
  fmt::print("{}\n",
             check->completed
                 ? "The run is finished; everything is as recorded."
                 : "Everything is as recorded; the run is not finished (--resume does it).");
  return check->completed ? kExitSuccess : kExitPartial;
}

}  // namespace tallele

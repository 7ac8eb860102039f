#include <signal.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "config/help_text.h"

namespace tallele {
namespace {

constexpr char kHelp[] =
    "tallele: association tests over biobank genotypes, as REGENIE's step 2, many times faster\n\n"
    "  tallele regenie ...    test variants for association with traits\n"
    "  tallele batch ...      several runs from configuration files, one after the other\n"
    "  tallele check-run DIR  is a run folder as its manifests say\n"
    "  tallele inspect FILE   what a genotype file is\n"
    "  tallele profile-report DIR  where the time of a run went\n"
    "  tallele simulate ...   write a made-up cohort\n"
    "  tallele dietnet ...    ancestry with Diet Networks\n"
    "  tallele help           this text; `tallele COMMAND --help` for one command\n"
    "  tallele --version      version and instruction sets\n\n"
    "Exit codes: 0 success, 1 failure while running, 2 wrong usage or configuration, 3 finished "
    "but\n"
    "some traits could not be analysed, 130 or 143 interrupted.\n";

CancelToken g_cancel;

// The first signal asks for a stop at the next safe point, a second one kills.
extern "C" void HandleSignal(int number) {
  g_cancel.Cancel(number);
  signal(number, SIG_DFL);
}

void CatchSignals() {
  struct sigaction action{};
  action.sa_handler = HandleSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int Dispatch(const std::string& command, std::span<const std::string> rest) {
  if (command == "regenie") return RegenieCommand(rest, g_cancel);
  if (command == "batch") return BatchCommand(rest, g_cancel);
  if (command == "check-run") return CheckRunCommand(rest);
  if (command == "profile-report") return ProfileReportCommand(rest);
  if (command == "inspect") return InspectCommand(rest);
  if (command == "simulate") return SimulateCommand(rest, g_cancel);
  if (command == "dietnet") return DietnetCommand(rest, g_cancel);
  if (command == "--version" || command == "version") return VersionCommand();
  if (command == "help" && !rest.empty() && rest.front() == "--markdown") {
    std::fputs(RegenieReferencePage().c_str(), stdout);
    return kExitSuccess;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kHelp, stdout);
    return kExitSuccess;
  }
  return Fail(UsageError("unknown command " + command,
                         "The commands are regenie, batch, check-run, profile-report, inspect, "
                         "simulate and dietnet; see `tallele --help`."));
}

}  // namespace

int Fail(const Error& error, int signal_number) {
  std::fprintf(stderr, "Error: %s\n", error.Message().c_str());
  if (error.kind == ErrorKind::kInterrupted && signal_number != 0) return 128 + signal_number;
  return ExitCodeFor(error.kind);
}

}  // namespace tallele

int main(int argc, char** argv) {
  try {
    tallele::CatchSignals();
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) words.push_back("help");
    return tallele::Dispatch(words.front(), std::span<const std::string>(words).subspan(1));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "Error: %s\n", failure.what());
    return 1;
  }
}

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "assoc/dry_run.h"
#include "assoc/finished_run.h"
#include "assoc/scan.h"
#include "base/atomic_file.h"
#include "base/format_number.h"
#include "base/machine.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_regenie.h"
#include "cli/version.h"
#include "config/help_text.h"
#include "config/resolve.h"
#include "results/event_log.h"
#include "results/output_paths.h"
#include "results/run_folder.h"
#include "results/scan_profile.h"

namespace tallele {
namespace {

std::string TimeNow() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", std::localtime(&now));
  return text;
}

// A word as a shell takes it.
std::string ShellWord(const std::string& word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void LogStart(const ResolvedOptions& options, Console& console) {
  console.Log(fmt::format("tallele {}, {}", kVersion, TimeNow()));
  console.Log(options.settings.scan.safety.command);
  console.Log("");
  console.Log(options.effective_toml);
  for (const std::string& note : options.notes) console.Message(Severity::kWarning, note);
}

// "412 of 9,120 rows corrected: ..." for a trait with a correction.
void PrintCorrections(const TraitSummary& trait, Console& console) {
  const CorrectionSummary& c = trait.corrections;
  if (c.candidates == 0) return;
  const auto count = [](size_t n) { return FormatThousands(static_cast<int64_t>(n)); };
  std::string line = fmt::format("    {} rows by the score test alone, {} corrected",
                                 count(trait.num_rows - c.candidates), count(c.candidates));
  std::string parts;
  const auto add = [&](size_t n, const char* what) {
    if (n > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count(n), what);
  };
  add(c.pseudo_data, "by Firth with pseudo data");
  add(c.newton, "by Firth with Newton steps");
  add(c.both_tails, "by saddlepoints of both tails");
  add(c.near_tail, "by the near tail's saddlepoint, the far one being negligible");
  add(c.not_converged, "failed: not converged");
  add(c.null_failed, "failed: no null Firth model");
  line += " (" + parts + fmt::format("; {} over carriers alone)", count(c.carriers_only));
  console.Print(line);
}

void PrintTrait(const TraitSummary& trait, Console& console) {
  console.Print(fmt::format(
      "  {}: {} rows{}{}{}{}", trait.files.trait,
      FormatThousands(static_cast<int64_t>(trait.num_rows)),
      trait.num_failed_rows > 0 ? fmt::format(", {} without a statistic", trait.num_failed_rows)
                                : "",
      trait.skipped_low_mac > 0 ? fmt::format(", {} variants below --minMAC", trait.skipped_low_mac)
                                : "",
      trait.skipped_low_info > 0 ? fmt::format(", {} below --minINFO", trait.skipped_low_info) : "",
      trait.skipped_low_homs > 0 ? fmt::format(", {} below --minHOMs", trait.skipped_low_homs)
                                 : ""));
  if (trait.num_rows > 0 && !std::isnan(trait.lambda_gc)) {
    console.Print(fmt::format("    lambda GC {:.3f}, top hit {} with LOG10P {:.2f}",
                              trait.lambda_gc, trait.top_id, trait.top_log10p));
  }
  PrintCorrections(trait, console);
  if (!trait.files.parquet_directory.empty()) console.Print("    " + trait.files.parquet_directory);
  if (!trait.files.text_file.empty()) console.Print("    " + trait.files.text_file);
}

void PrintSkipped(const ScanSummary& summary, Console& console) {
  if (summary.num_not_biallelic + summary.num_high_ploidy == 0) return;
  console.Print(
      fmt::format("Skipped: {} variants that are not biallelic, {} with more than two copies",
                  summary.num_not_biallelic, summary.num_high_ploidy));
  std::string ids;
  for (const std::string& id : summary.skipped_ids) ids += " " + id;
  const size_t unlisted =
      summary.num_not_biallelic + summary.num_high_ploidy - summary.skipped_ids.size();
  if (unlisted > 0) ids += fmt::format(" and {} more", unlisted);
  console.Message(Severity::kDetail, "Skipped variants:" + ids);
}

void PrintSummary(const ScanSummary& summary, Console& console) {
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.num_variants) / summary.seconds : 0;
  if (summary.num_restored_variants > 0) {
    console.Print(
        fmt::format("\nFrom earlier attempts: {} variants",
                    FormatThousands(static_cast<int64_t>(summary.num_restored_variants))));
  }
  console.Print(fmt::format("\nDone: {} variants in {:.1f} s ({} a second), peak memory {} MB",
                            FormatThousands(static_cast<int64_t>(summary.num_variants)),
                            summary.seconds, FormatThousands(static_cast<int64_t>(rate)),
                            PeakMemory() >> 20));
  for (const TraitSummary& trait : summary.traits) PrintTrait(trait, console);
  if (!summary.wide_text_file.empty()) console.Print("  All traits: " + summary.wide_text_file);
  PrintSkipped(summary, console);
  for (const TraitProblem& problem : summary.problems) {
    console.Message(Severity::kWarning,
                    "trait " + problem.trait + " was not fully analysed: " + problem.reason);
  }
}

// A run that writes text alone has no run directory and gets the file beside its text.
Result<void> WriteEffectiveConfig(const ResolvedOptions& options) {
  const ScanRequest& scan = options.settings.scan;
  if (scan.format != OutputFormat::kRegenie) return {};
  return WriteFileAtomically(scan.out + ".effective_config.toml", options.effective_toml);
}

std::string CommandLine(std::span<const std::string> arguments) {
  std::string command = "tallele regenie";
  for (const std::string& argument : arguments) command += " " + ShellWord(argument);
  return command;
}

// What the user types to finish a run that was stopped.
void PrintHowToResume(std::span<const std::string> arguments, const ScanRequest& scan,
                      Console& console) {
  if (scan.format == OutputFormat::kRegenie) {
    console.Message(Severity::kWarning,
                    "nothing was kept: a run with --format regenie alone starts anew");
    return;
  }
  std::vector<std::string> words;
  for (const std::string& word : arguments) {
    if (word != "--resume" && word != "--overwrite") words.push_back(word);
  }
  console.Message(Severity::kWarning,
                  "finished parts are kept; resume with: " + CommandLine(words) + " --resume");
}

int FailLogged(const Error& error, Console& console, int signal_number) {
  console.Log("Error: " + error.Message());
  return Fail(error, signal_number);
}

std::string LogFolder(const ScanRequest& scan) {
  OutputRequest output;
  output.prefix = scan.out;
  output.run_directory = scan.run_directory;
  return RunDirectory(output) + "/logs";
}

// The event log in the run folder; null without telemetry or without a run folder.
Result<std::unique_ptr<EventLog>> OpenEvents(const ScanRequest& scan, Console& console) {
  if (scan.safety.telemetry == Telemetry::kOff || scan.format == OutputFormat::kRegenie) {
    return std::unique_ptr<EventLog>();
  }
  TALLELE_TRY(PosixFileEnv().CreateFolders(LogFolder(scan)));
  return EventLog::Open(LogFolder(scan) + "/" + kEventLogName, AttemptName(), console);
}

void TellStart(const ScanPlan& plan, const ScanRequest& scan, EventSink& events) {
  const EventField fields[] = {{"version", std::string_view(kVersion)},
                               {"traits", static_cast<int64_t>(plan.num_traits())},
                               {"traits_left_out", static_cast<int64_t>(plan.problems().size())},
                               {"resume", scan.safety.existing == ExistingRun::kResume}};
  events.Event("run_started", fields);
}

void TellEnd(const Result<ScanSummary>& summary, const CancelToken& cancel, EventSink& events) {
  const bool interrupted = !summary.ok() && summary.error().kind == ErrorKind::kInterrupted;
  const std::string_view status = interrupted                 ? "interrupted"
                                  : !summary.ok()             ? "failed"
                                  : summary->problems.empty() ? "completed"
                                                              : "partial";
  const std::string error = summary.ok() || interrupted ? "" : summary.error().Message();
  const EventField fields[] = {
      {"status", status},
      {"signal", int64_t{interrupted ? cancel.signal_number() : 0}},
      {"error", std::string_view(error)},
      {"variants", static_cast<int64_t>(summary.ok() ? summary->num_variants : 0)},
      {"seconds", summary.ok() ? summary->seconds : 0.0}};
  events.Event("run_finished", fields);
}

void PrintForecast(const ScanForecast& forecast, Console& console) {
  console.Print(fmt::format(
      "\nForecast from {} variants, {:.1f} us each on one thread; results are not touched",
      forecast.sampled_variants, forecast.seconds_per_variant * 1e6));
  for (const ScanForecast::Chromosome& chromosome : forecast.chromosomes) {
    console.Print(fmt::format("  chromosome {}: {} variants, {:.1f} s, {:.1f} MB", chromosome.label,
                              FormatThousands(static_cast<int64_t>(chromosome.num_variants)),
                              chromosome.seconds,
                              static_cast<double>(chromosome.output_bytes) / 1e6));
  }
  console.Print(fmt::format("  all: {:.1f} s, {:.1f} MB of output, about {} MB of memory",
                            forecast.seconds, static_cast<double>(forecast.output_bytes) / 1e6,
                            forecast.memory_bytes >> 20));
}

int DryRun(const ScanPlan& plan, Console& console) {
  for (const std::string& line : plan.Describe()) console.Print(line);
  const auto forecast = ForecastScan(plan);
  if (!forecast.ok()) return Fail(forecast.error());
  PrintForecast(*forecast, console);
  return plan.problems().empty() ? kExitSuccess : kExitPartial;
}

// A run that was asked to resume and has nothing to do.
int ReportFinished(const FinishedRun& run, Console& console) {
  console.Print("The run is finished already: nothing to do");
  for (const FinishedRun::Trait& trait : run.traits) {
    console.Print(fmt::format("  {}: {} rows in {}", trait.name,
                              FormatThousands(static_cast<int64_t>(trait.num_rows)), trait.folder));
  }
  for (const TraitProblem& problem : run.problems) {
    console.Message(Severity::kWarning,
                    "trait " + problem.trait + " was not fully analysed: " + problem.reason);
  }
  return run.problems.empty() ? kExitSuccess : kExitPartial;
}

}  // namespace

int RunRegenie(std::span<const std::string> arguments, ResolvedOptions options,
               const CancelToken& cancel) {
  RegenieSettings& settings = options.settings;
  RunSafety& safety = settings.scan.safety;
  safety.command = CommandLine(arguments);
  safety.version = kVersion;
  safety.effective_config = options.effective_toml;
  Console console({settings.quiet, settings.verbose});
  if (const auto finished = FindFinishedRun(settings.scan))
    return ReportFinished(*finished, console);
  LogStart(options, console);
  const auto plan = PlanScan(settings.scan, console);
  if (!plan.ok()) return Fail(plan.error());
  if (settings.dry_run) return DryRun(**plan, console);
  // The folder is taken and the log opened after planning, so that a refused run leaves nothing.
  const auto run = BeginScan(**plan, console);
  if (!run.ok()) return Fail(run.error());
  const bool append = safety.existing == ExistingRun::kResume;
  if (const auto log = console.OpenLog(settings.scan.out + ".log", append); !log.ok())
    return Fail(log.error());
  for (const std::string& line : (*plan)->Describe()) console.Print(line);

  if (const auto written = WriteEffectiveConfig(options); !written.ok()) {
    return FailLogged(written.error(), console, 0);
  }
  auto events = OpenEvents(settings.scan, console);
  if (!events.ok()) return FailLogged(events.error(), console, 0);
  EventSink& sink = *events != nullptr ? static_cast<EventSink&>(**events) : console;
  TellStart(**plan, settings.scan, sink);
  const auto summary = RunScan(**plan, **run, sink, cancel);
  TellEnd(summary, cancel, sink);
  if (!summary.ok()) {
    if (summary.error().kind == ErrorKind::kInterrupted) {
      PrintHowToResume(arguments, settings.scan, console);
    }
    return FailLogged(summary.error(), console, cancel.signal_number());
  }
  if (summary->profile) {
    const auto written =
        WriteProfile(*summary->profile, LogFolder(settings.scan) + "/" + kProfileName);
    if (!written.ok()) return FailLogged(written.error(), console, 0);
  }
  PrintSummary(*summary, console);
  console.Log(TimeNow());
  return summary->problems.empty() ? kExitSuccess : kExitPartial;
}

int RegenieCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h" || argument == "--helpFull") {
      std::fputs(RegenieHelp().c_str(), stdout);
      return kExitSuccess;
    }
  }
  const auto flags = ParseCommandLine(arguments);
  if (!flags.ok()) return Fail(flags.error());
  auto options = ResolveOptions(*flags);
  if (!options.ok()) return Fail(options.error());
  return RunRegenie(arguments, *std::move(options), cancel);
}

}  // namespace tallele

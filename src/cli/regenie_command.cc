#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "assoc/scan.h"
#include "base/atomic_file.h"
#include "base/format_number.h"
#include "base/machine.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/version.h"
#include "config/help_text.h"
#include "config/resolve.h"
#include "results/output_paths.h"

namespace tallele {
namespace {

std::string TimeNow() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", std::localtime(&now));
  return text;
}

void LogStart(std::span<const std::string> arguments, const ResolvedOptions& options,
              Console& console) {
  console.Log(fmt::format("tallele {}, {}", kVersion, TimeNow()));
  std::string command = "tallele regenie";
  for (const std::string& argument : arguments) command += " " + argument;
  console.Log(command);
  console.Log("");
  console.Log(options.effective_toml);
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

// Into the run directory; a run that writes text alone has none and gets the file beside its text.
Result<void> WriteEffectiveConfig(const ResolvedOptions& options) {
  const ScanRequest& scan = options.settings.scan;
  if (scan.format == OutputFormat::kRegenie) {
    return WriteFileAtomically(scan.out + ".effective_config.toml", options.effective_toml);
  }
  OutputRequest output;
  output.prefix = scan.out;
  output.run_directory = scan.run_directory;
  return WriteRunFile(RunDirectory(output), "effective_config.toml", options.effective_toml);
}

int FailLogged(const Error& error, Console& console, int signal_number) {
  console.Log("Error: " + error.Message());
  return Fail(error, signal_number);
}

}  // namespace

int RegenieCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h" || argument == "--helpFull") {
      std::fputs(RegenieHelp().c_str(), stdout);
      return kExitSuccess;
    }
  }
  const auto flags = ParseCommandLine(arguments);
  if (!flags.ok()) return Fail(flags.error());
  const auto options = ResolveOptions(*flags);
  if (!options.ok()) return Fail(options.error());
  const RegenieSettings& settings = options->settings;

  Console console({settings.quiet, settings.verbose});
  LogStart(arguments, *options, console);
  const auto plan = PlanScan(settings.scan, console);
  if (!plan.ok()) return Fail(plan.error());
  // The log is opened after planning, so that a refused run leaves no file behind.
  if (const auto log = console.OpenLog(settings.scan.out + ".log"); !log.ok())
    return Fail(log.error());
  for (const std::string& line : (*plan)->Describe()) console.Print(line);

  if (const auto written = WriteEffectiveConfig(*options); !written.ok()) {
    return FailLogged(written.error(), console, 0);
  }
  const auto summary = RunScan(**plan, console, cancel);
  if (!summary.ok()) return FailLogged(summary.error(), console, cancel.signal_number());
  PrintSummary(*summary, console);
  console.Log(TimeNow());
  return summary->problems.empty() ? kExitSuccess : kExitPartial;
}

}  // namespace tallele

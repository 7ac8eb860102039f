#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "assoc/batch_inputs.h"
#include "base/machine.h"
#include "cli/commands.h"
#include "cli/run_regenie.h"
#include "config/option_layer.h"
#include "config/resolve.h"
#include "results/output_paths.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

constexpr char kHelp[] =
    "tallele batch: several runs, one after the other\n\n"
    "  tallele batch --config FILE --config FILE ...\n\n"
    "Each FILE is a complete configuration of `tallele regenie`. All are read and checked before\n"
    "anything starts; their outputs must lie apart, and what concerns the whole process (threads,\n"
    "device, what is printed) must be the same. Runs in order and stops at the first that fails "
    "or\n"
    "is interrupted; what ended before stays. Files that several runs name (tables, lists,\n"
    "genotypes with their index, predictions) are read once, and again only if they change.\n\n"
    "Exit codes: that of the run that stopped the batch, else 3 if some trait was not analysed.\n";

struct Entry {
  std::string config;
  ResolvedOptions options;
};

// Where an entry writes: folders and files, with links followed.
struct Place {
  fs::path path;
  bool is_folder = false;
};

Result<std::vector<std::string>> ConfigFiles(std::span<const std::string> arguments) {
  std::vector<std::string> files;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.starts_with("--config=")) {
      files.push_back(word.substr(9));
    } else if (word == "--config" && i + 1 < arguments.size()) {
      files.push_back(arguments[++i]);
    } else {
      return UsageError("batch does not know " + word,
                        "It takes --config FILE alone, once for each run.");
    }
  }
  if (files.empty()) return UsageError("no configuration is given", "Give --config FILE.");
  return files;
}

Result<std::vector<Entry>> ReadEntries(const std::vector<std::string>& files) {
  std::vector<Entry> entries;
  for (const std::string& file : files) {
    const std::string words[] = {"--config", file};
    const auto flags = ParseCommandLine(words);
    if (!flags.ok()) return flags.error();
    auto options = ResolveOptions(*flags);
    if (!options.ok()) {
      const bool named = options.error().where.starts_with(file);
      return named ? options.error() : options.error().WithContext(file);
    }
    entries.push_back({file, *std::move(options)});
  }
  return entries;
}

Result<Place> Resolve(const std::string& path, bool is_folder) {
  std::error_code code;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, code), code);
  if (code) return IoError("cannot resolve the output path", path, code.value());
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  return Place{std::move(resolved), is_folder};
}

Result<std::vector<Place>> PlacesOf(const ScanRequest& scan) {
  std::vector<Place> places;
  TALLELE_ASSIGN(Place prefix, Resolve(scan.out + ".log", false));
  places.push_back(std::move(prefix));
  if (scan.format == OutputFormat::kRegenie) return places;
  OutputRequest output;
  output.prefix = scan.out;
  output.run_directory = scan.run_directory;
  TALLELE_ASSIGN(Place folder, Resolve(RunDirectory(output), true));
  places.push_back(std::move(folder));
  return places;
}

bool IsSameOrInside(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

bool Overlap(const Place& a, const Place& b) {
  return a.path == b.path || (a.is_folder && IsSameOrInside(b.path, a.path)) ||
         (b.is_folder && IsSameOrInside(a.path, b.path));
}

Result<void> CheckPlaces(const std::vector<Entry>& entries) {
  std::vector<std::vector<Place>> places;
  for (const Entry& entry : entries) {
    TALLELE_ASSIGN(std::vector<Place> own, PlacesOf(entry.options.settings.scan));
    for (size_t k = 0; k < places.size(); ++k) {
      for (const Place& place : own) {
        for (const Place& other : places[k]) {
          if (!Overlap(place, other)) continue;
          Error error = ConfigError("two runs of the batch write to one place", entry.config,
                                    "Give each its own output.out.");
          error.found =
              place.path.string() + " here and " + other.path.string() + " in " + entries[k].config;
          return error;
        }
      }
    }
    places.push_back(std::move(own));
  }
  return {};
}

// Settings of the process, in effect: a default is equal to itself when it is written out.
std::vector<std::pair<const char*, std::string>> ProcessSettings(const RegenieSettings& settings) {
  const int threads = settings.scan.threads > 0 ? settings.scan.threads : AvailableProcessors();
  return {
      {"compute.cpu_threads", std::to_string(threads)},
      {"diagnostics.telemetry", std::to_string(static_cast<int>(settings.scan.safety.telemetry))},
      {"diagnostics.quiet", settings.quiet ? "true" : "false"},
      {"diagnostics.verbose", settings.verbose ? "true" : "false"}};
}

Result<void> CheckProcessSettings(const std::vector<Entry>& entries) {
  const auto first = ProcessSettings(entries.front().options.settings);
  for (const Entry& entry : entries) {
    const auto own = ProcessSettings(entry.options.settings);
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].second == first[i].second) continue;
      Error error = ConfigError(
          std::string("the runs of a batch share one process, and ") + own[i].first + " differs",
          entry.config, "Make it equal in all configurations.");
      error.found = own[i].second;
      error.expected = first[i].second + " as in " + entries.front().config;
      return error;
    }
  }
  return {};
}

int RunEntries(std::vector<Entry> entries, const CancelToken& cancel) {
  const auto inputs = std::make_shared<BatchInputs>();
  for (const Entry& entry : entries) inputs->Expect(entry.options.settings.scan);
  int code = kExitSuccess;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    if (!entry.options.settings.quiet) {
      fmt::print("{}Run {} of {}: {}\n", i == 0 ? "" : "\n", i + 1, entries.size(), entry.config);
      std::fflush(stdout);
    }
    entry.options.settings.scan.batch_inputs = inputs;
    const std::string words[] = {"--config", entry.config};
    const int one = RunRegenie(words, std::move(entry.options), cancel);
    if (one == kExitPartial) {
      code = kExitPartial;
    } else if (one != kExitSuccess) {
      if (i + 1 < entries.size()) {
        std::fprintf(stderr, "The batch stops here: %zu of %zu runs were not started\n",
                     entries.size() - i - 1, entries.size());
      }
      return one;
    }
  }
  return code;
}

}  // namespace

int BatchCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  for (const std::string& word : arguments) {
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return kExitSuccess;
    }
  }
  const auto files = ConfigFiles(arguments);
  if (!files.ok()) return Fail(files.error());
  auto entries = ReadEntries(*files);
  if (!entries.ok()) return Fail(entries.error());
  if (const auto checked = CheckPlaces(*entries); !checked.ok()) return Fail(checked.error());
  if (const auto checked = CheckProcessSettings(*entries); !checked.ok()) {
    return Fail(checked.error());
  }
  return RunEntries(*std::move(entries), cancel);
}

}  // namespace tallele

#include "results/scan_profile.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"

namespace tallele {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "tallele profile";
constexpr int kSchema = 1;
constexpr uint64_t kLargestProfile = uint64_t{1} << 20;
// A stage that only one thread may enter at a time bounds the run once it fills the clock, or most
// of it while other threads wait.
constexpr double kFull = 0.8;
constexpr double kMost = 0.5;
constexpr double kMuchWaiting = 0.3;

struct NamedStage {
  const char* name;
  const char* what;
  ScanProfile::Stage ScanProfile::* stage;
};
constexpr NamedStage kStages[] = {
    {"fit", "fitting null models", &ScanProfile::fit},
    {"read", "reading genotypes", &ScanProfile::read},
    {"decode", "inflating and unpacking", &ScanProfile::decode},
    {"test", "products and tests", &ScanProfile::test},
    {"write", "encoding results", &ScanProfile::write},
    {"publish", "syncing and recording", &ScanProfile::publish},
};

template <typename... Values>
std::string Text(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// What fills the time, and what to do about it.
std::vector<std::string> Diagnose(const ScanProfile& p) {
  const double wall = std::max(p.wall_seconds, 1e-9);
  const bool much_waiting = p.WaitingSeconds() / (std::max(1, p.threads) * wall) > kMuchWaiting;
  const double limit = much_waiting ? kMost : kFull;
  if ((p.fit.seconds + p.read.seconds) / wall > limit) {
    if (p.fit.seconds > p.read.seconds) {
      return {"Bound by fitting null models, which one thread does for each chromosome.",
              "Scan more variants of a chromosome in one run, so that a fit serves more of them."};
    }
    return {"Bound by reading: the stored genotypes arrive more slowly than they are tested.",
            "Put the genotype file on faster or local storage; more threads do not help."};
  }
  if ((p.write.seconds + p.publish.seconds) / wall > limit) {
    if (p.publish.seconds > p.write.seconds) {
      return {"Bound by syncing and recording results.",
              "Put --out on storage that syncs faster; more threads do not help."};
    }
    return {"Bound by encoding results, which one thread does at a time.",
            "Test fewer traits in one run, or leave out the text files (--format parquet)."};
  }
  if (much_waiting) {
    return {"No stage fills the time: threads wait for each other or for the start and the end.",
            "The run is short or has more --threads than it can feed; fewer do as well."};
  }
  if (p.decode.seconds >= p.test.seconds) {
    return {"Bound by inflating and unpacking genotypes, which all threads do.",
            "More threads help. So does testing all traits in one run: genotypes are unpacked once "
            "for all of them."};
  }
  return {"Bound by products and tests, which all threads do.",
          "More threads help; traits with equal missing patterns cost less than ones with their "
          "own gaps."};
}

ScanProfile ParseProfile(const Json& json) {
  ScanProfile profile;
  if (json.at("format") != kFormat || json.at("schema") != kSchema) {
    throw std::invalid_argument("another format or schema");
  }
  for (const NamedStage& named : kStages) {
    const Json& stage = json.at("stages").at(named.name);
    (profile.*named.stage).seconds = stage.at("seconds").get<double>();
    (profile.*named.stage).calls = stage.at("calls").get<size_t>();
  }
  profile.wall_seconds = json.at("wall_seconds").get<double>();
  profile.threads = json.at("threads").get<int>();
  profile.traits = json.at("traits").get<size_t>();
  profile.variants = json.at("variants").get<size_t>();
  profile.input_bytes = json.at("input_bytes").get<uint64_t>();
  profile.output_bytes = json.at("output_bytes").get<uint64_t>();
  profile.peak_memory_bytes = json.at("peak_memory_bytes").get<uint64_t>();
  return profile;
}

}  // namespace

double ScanProfile::BusySeconds() const {
  double seconds = 0;
  for (const NamedStage& named : kStages) seconds += (this->*named.stage).seconds;
  return seconds;
}

double ScanProfile::WaitingSeconds() const {
  return std::max(0.0, threads * wall_seconds - BusySeconds());
}

Result<void> WriteProfile(const ScanProfile& profile, const std::string& path, FileEnv& env) {
  Json json;
  json["format"] = kFormat;
  json["schema"] = kSchema;
  json["note"] =
      "seconds of a stage are summed over threads; stages overlap and do not add up to "
      "wall_seconds";
  for (const NamedStage& named : kStages) {
    const ScanProfile::Stage& stage = profile.*named.stage;
    json["stages"][named.name] = {{"seconds", stage.seconds}, {"calls", stage.calls}};
  }
  json["wall_seconds"] = profile.wall_seconds;
  json["waiting_seconds"] = profile.WaitingSeconds();
  json["threads"] = profile.threads;
  json["traits"] = profile.traits;
  json["variants"] = profile.variants;
  json["input_bytes"] = profile.input_bytes;
  json["output_bytes"] = profile.output_bytes;
  json["peak_memory_bytes"] = profile.peak_memory_bytes;
  return WriteFileAtomically(path, json.dump(1) + "\n", env);
}

Result<ScanProfile> ReadProfile(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  std::string text(std::min(identity.size, kLargestProfile), '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  try {
    return ParseProfile(Json::parse(text));
  } catch (const std::exception& failure) {
    Error error = InputError("not a profile that this version writes", path,
                             "Run the scan again with --telemetry profile.");
    error.found = failure.what();
    return error;
  }
}

std::vector<std::string> DescribeProfile(const ScanProfile& p) {
  const double threads = std::max(1e-9, std::max(1, p.threads) * p.wall_seconds);
  std::vector<std::string> lines;
  lines.push_back(Text(
      "%zu variants, %zu traits, %d threads, %.2f s on the clock, peak memory %zu MB", p.variants,
      p.traits, p.threads, p.wall_seconds, static_cast<size_t>(p.peak_memory_bytes >> 20)));
  lines.push_back("");
  lines.push_back("stage                     thread seconds   share   calls");
  for (const NamedStage& named : kStages) {
    const ScanProfile::Stage& stage = p.*named.stage;
    lines.push_back(Text("%-25s %14.3f %6.1f%% %7zu", named.what, stage.seconds,
                         100 * stage.seconds / threads, stage.calls));
  }
  lines.push_back(Text("%-25s %14.3f %6.1f%%", "waiting", p.WaitingSeconds(),
                       100 * p.WaitingSeconds() / threads));
  lines.push_back("Thread seconds are summed over threads; they do not add up to the clock.");
  lines.push_back(Text("Genotype file %.1f MB, parts written %.1f MB", p.input_bytes / 1e6,
                       p.output_bytes / 1e6));
  lines.push_back("");
  for (std::string& line : Diagnose(p)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace tallele

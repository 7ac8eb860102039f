#ifndef TALLELE_RESULTS_RUN_MANIFEST_H_
#define TALLELE_RESULTS_RUN_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/correction_summary.h"
#include "results/kept_text.h"

namespace tallele {

inline constexpr int kManifestSchema = 1;

// One thing that changes results, as text: "min_mac" is "5".
struct PlanField {
  std::string name;
  std::string value;
  bool operator==(const PlanField&) const = default;
};

// SHA-256 over names and values in order, each with its length in front, so that no two lists of
// fields share a hash.
std::string PlanHash(std::span<const PlanField> fields);

// The first field in which two plans differ; an absent field shows as "(absent)".
struct PlanDifference {
  std::string field;
  std::string recorded;
  std::string requested;
};
std::optional<PlanDifference> FirstDifference(std::span<const PlanField> recorded,
                                              std::span<const PlanField> requested);

// An input as it was when the run read it. Not part of the plan: a moved or copied file of equal
// content does not stop a resume.
struct InputFile {
  std::string role;  // "phenotypes"
  std::string path;  // absolute
  FileIdentity identity;
  std::string sha256;  // of what `policy` says
  std::string policy;  // "whole", "sampled" or "identity" (not hashed)
  bool operator==(const InputFile&) const = default;
};

// Variants without a row in one part, by reason.
struct PartCounts {
  size_t low_mac = 0;
  size_t low_info = 0;
  size_t low_homs = 0;
  size_t not_biallelic = 0;
  size_t high_ploidy = 0;
  CorrectionSummary corrections;
  bool operator==(const PartCounts&) const = default;
};

// A part of the dataset that counts: synced, renamed and recorded here.
struct CommittedPart {
  std::string file;  // name inside parts/
  VariantRange range;
  size_t num_rows = 0;
  uint64_t num_bytes = 0;
  std::string sha256;
  PartCounts counts;
  std::optional<KeptText> text = {};  // where text cannot be made from the part
};

enum class RunStatus { kRunning, kInterrupted, kFailed, kCompleted };
std::string_view RunStatusName(RunStatus status);

// What `run_manifest.json` in a trait's folder holds: the immutable plan, then the life of the run.
// docs/formats/manifest.md describes the file.
struct RunManifest {
  std::string trait;
  std::vector<PlanField> plan;
  std::vector<VariantRange> grid;  // the parts that make the dataset complete
  std::vector<InputFile> inputs;

  RunStatus status = RunStatus::kRunning;
  int signal = 0;     // of an interrupted run
  std::string error;  // of a failed run
  size_t attempts = 1;
  std::string command;
  std::string version;
  std::string instruction_set;
  int threads = 0;
  std::string trait_columns;   // which columns the run was asked for
  std::string text_layout;     // which form of text the run was asked for
  size_t traits = 1;           // of the run, this one included
  size_t traits_left_out = 0;  // those that could not be analysed at all
  std::string started;         // UTC
  std::string updated;
  std::vector<std::string> problems;  // why the trait was not fully analysed
  std::vector<CommittedPart> parts;   // by first variant
  std::vector<InputFile> outputs;     // of a completed run: text and list of people, not hashed

  std::string plan_hash() const { return PlanHash(plan); }
  const CommittedPart* FindPart(VariantRange range) const;
  // Adds a part, or replaces the one of the same range.
  void Record(CommittedPart part);
  void Forget(VariantRange range);
  // Every part of the grid is recorded.
  bool IsComplete() const;
};

// Text that JSON can hold: where it is not UTF-8, its bytes from 0x80 on are written as \xNN. Plans
// hold such texts alone.
std::string PrintableText(const std::string& text);

// Text and back. Errors of parsing (kInput): not JSON, another schema, an unknown or missing field,
// a wrong type, a value that contradicts another, a digest or plan hash that does not fit.
Result<std::string> ManifestText(const RunManifest& manifest);
Result<RunManifest> ParseManifest(std::string_view text, const std::string& path);

inline constexpr char kManifestName[] = "run_manifest.json";
Result<RunManifest> ReadManifest(const std::string& path, FileEnv& env = PosixFileEnv());
// Replaces the file atomically: a reader sees the old one or the new one.
Result<void> WriteManifest(const RunManifest& manifest, const std::string& path,
                           FileEnv& env = PosixFileEnv());

// "2026-01-31T12:00:00Z".
std::string UtcNow();

}  // namespace tallele

#endif  // TALLELE_RESULTS_RUN_MANIFEST_H_

#include "config/resolve.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "config/option_table.h"

namespace tallele {
namespace {

const OptionSpec& Flag(std::string_view name) { return *FindFlag(name); }

std::string Quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string TomlValue(const OptionSpec& spec, const OptionValue& value) {
  switch (spec.type) {
    case OptionType::kFlag:
    case OptionType::kInteger:
      return value.Text();
    case OptionType::kNumber:
      // TOML tells 5 from 5.0; either is read as a number.
      return value.Text();
    case OptionType::kText:
    case OptionType::kChoice:
    case OptionType::kPath:
      return Quote(value.Text());
    default:
      break;
  }
  std::string out = "[";
  for (size_t i = 0; i < value.items.size(); ++i)
    out += (i == 0 ? "" : ", ") + Quote(value.items[i]);
  return out + "]";
}

// What is said for one start of a run: the file that repeats the run must not say it.
bool IsOneTime(const OptionSpec& spec) { return spec.key == "resume" || spec.key == "overwrite"; }

std::string EffectiveToml(const OptionLayer& merged) {
  std::map<std::string, std::string> sections;
  for (const OptionSpec& spec : RegenieOptions()) {
    const auto given = merged.given.find(&spec);
    if (given == merged.given.end() || spec.section.empty() || IsOneTime(spec)) continue;
    sections[spec.section] += spec.key + " = " + TomlValue(spec, given->second.value) + "\n";
  }
  std::string out = "# The merged options of this run: tallele regenie --config <this file>\n";
  for (const auto& [section, keys] : sections) out += "\n[" + section + "]\n" + keys;
  return out;
}

Result<void> AddDefaults(OptionLayer& merged) {
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.default_value.empty() || merged.Has(spec)) continue;
    TALLELE_ASSIGN(OptionValue value,
                   ParseOptionValue(spec, spec.key, {spec.default_value}, false));
    merged.given[&spec] = {std::move(value), "default"};
  }
  return {};
}

Result<void> RequireFile(const std::string& path, const char* option) {
  if (path.empty() || access(path.c_str(), R_OK) == 0) return {};
  return IoError(std::string("the file of ") + option + " cannot be read", path, errno);
}

Result<void> CheckInputs(const ScanRequest& scan) {
  if (scan.bgen.empty() == scan.bed.empty()) {
    return UsageError(
        scan.bgen.empty() ? "no genotype file is given" : "two genotype files are given",
        "Give exactly one of --bgen and --bed.");
  }
  if (scan.cohort.pheno_file.empty()) {
    return UsageError("no phenotype file is given", "Give it with --phenoFile.");
  }
  if (scan.out.empty()) return UsageError("no output prefix is given", "Give it with --out.");
  if (scan.pred.empty() && !scan.ignore_pred) {
    return UsageError("no predictions are given",
                      "Give step 1's list with --pred, or --ignore-pred for a test without them.");
  }
  if (!scan.pred.empty() && scan.ignore_pred) {
    return UsageError("--pred and --ignore-pred exclude each other", "Give one of them.");
  }
  if (!scan.bed.empty() && (!scan.sample.empty() || !scan.bgi.empty())) {
    return UsageError("--sample and --bgi belong to --bgen", "Leave them out with --bed.");
  }
  const CohortRequest& cohort = scan.cohort;
  if (cohort.covar_file.empty() &&
      (!cohort.covar_columns.empty() || !cohort.covar_exclude.empty() ||
       !cohort.categorical_covariates.empty())) {
    return UsageError("covariates are named, but no covariate file is given",
                      "Give it with --covarFile.");
  }
  if (!cohort.keep_files.empty() && !cohort.remove_files.empty()) {
    return UsageError("--keep and --remove exclude each other", "Give one of them.");
  }
  if (scan.gzip && scan.format == OutputFormat::kParquet) {
    return UsageError("--gz compresses text files, and --format parquet writes none",
                      "Use --format regenie or both, or leave --gz out.");
  }
  if (scan.safety.telemetry == Telemetry::kProfile && scan.format == OutputFormat::kRegenie) {
    return UsageError(
        "--telemetry profile writes into the run folder, and --format regenie has none",
        "Use --format both.");
  }
  if (scan.print_pheno && !scan.write_samples) {
    return UsageError("--print-pheno needs --write-samples", "Give both.");
  }
  if (cohort.sex_filter != Sex::kUnknown && !scan.bgen.empty() && scan.sample.empty()) {
    return UsageError("--sex-specific needs the people's sex", "Give a --sample file with it.");
  }
  if (scan.min_homs > 0 && scan.model != GeneticModel::kRecessive) {
    return UsageError("--minHOMs belongs to --test recessive", "Leave it out.");
  }
  return {};
}

Result<void> CheckFiles(const ScanRequest& scan) {
  TALLELE_TRY(RequireFile(scan.bgen, "--bgen"));
  TALLELE_TRY(RequireFile(scan.sample, "--sample"));
  TALLELE_TRY(RequireFile(scan.bgi, "--bgi"));
  TALLELE_TRY(RequireFile(scan.cohort.pheno_file, "--phenoFile"));
  TALLELE_TRY(RequireFile(scan.cohort.covar_file, "--covarFile"));
  TALLELE_TRY(RequireFile(scan.pred, "--pred"));
  const std::pair<const std::vector<std::string>*, const char*> lists[] = {
      {&scan.cohort.keep_files, "--keep"},
      {&scan.cohort.remove_files, "--remove"},
      {&scan.extract_files, "--extract"},
      {&scan.exclude_files, "--exclude"}};
  for (const auto& [paths, option] : lists) {
    for (const std::string& path : *paths) TALLELE_TRY(RequireFile(path, option));
  }
  return {};
}

// A REGENIE command line gets REGENIE's files as well, so that a pipeline finds what it expects.
Result<void> ChooseFormat(const OptionLayer& flags, OptionLayer& merged) {
  const OptionSpec& format = Flag("--format");
  const auto gzip = merged.given.find(&Flag("--gz"));
  const bool compressed = gzip != merged.given.end() && gzip->second.value.Truth();
  const bool regenie_style = flags.Has(Flag("--step")) || compressed;
  if (merged.Has(format) || !regenie_style) return {};
  TALLELE_ASSIGN(OptionValue both, ParseOptionValue(format, "--format", {"both"}, false));
  merged.given[&format] = {std::move(both), "--step or --gz"};
  return {};
}

bool IsTrue(const OptionLayer& merged, const char* flag) {
  const auto given = merged.given.find(&Flag(flag));
  return given != merged.given.end() && given->second.value.Truth();
}

}  // namespace

Result<ResolvedOptions> ResolveOptions(const OptionLayer& flags) {
  OptionLayer merged;
  const auto config = flags.given.find(&Flag("--config"));
  if (config != flags.given.end()) {
    TALLELE_ASSIGN(merged, ReadTomlLayer(config->second.value.Text()));
  }
  for (const auto& [spec, given] : flags.given) merged.given[spec] = given;
  TALLELE_TRY(ChooseFormat(flags, merged));
  TALLELE_TRY(AddDefaults(merged));
  ResolvedOptions resolved;
  for (const auto& [spec, given] : merged.given) {
    if (spec->apply != nullptr) spec->apply(given.value, resolved.settings);
  }
  if (IsTrue(merged, "--resume") && IsTrue(merged, "--overwrite")) {
    return UsageError("--resume and --overwrite exclude each other", "Give one of them.");
  }
  TALLELE_TRY(CheckInputs(resolved.settings.scan));
  TALLELE_TRY(CheckFiles(resolved.settings.scan));
  resolved.effective_toml = EffectiveToml(merged);
  return resolved;
}

}  // namespace tallele

#include "config/resolve.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "config/binary_option_table.h"
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
bool IsOneTime(const OptionSpec& spec) {
  return spec.key == "resume" || spec.key == "overwrite" || spec.key == "dry_run";
}

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

// Defaults of options that do not apply stay out of the effective configuration. The limits whose
// mere presence turns the retries off do so, too.
Result<void> AddDefaults(OptionLayer& merged, bool binary) {
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.default_value.empty() || merged.Has(spec)) continue;
    if (spec.binary_only && !binary) continue;
    if (&spec == &Flag("--maxstep-null") || &spec == &Flag("--maxiter-null")) continue;
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
  const auto says = [&](std::string_view name) {
    const auto given = merged.given.find(&Flag(name));
    return given != merged.given.end() && given->second.value.Text() != "false";
  };
  const bool regenie_style = flags.Has(Flag("--step")) || says("--gz") || says("--no-split") ||
                             says("--htp") || says("--af-cc");
  if (merged.Has(format) || !regenie_style) return {};
  TALLELE_ASSIGN(OptionValue both, ParseOptionValue(format, "--format", {"both"}, false));
  merged.given[&format] = {std::move(both), "--step or a text option"};
  return {};
}

bool IsTrue(const OptionLayer& merged, const char* flag) {
  const auto given = merged.given.find(&Flag(flag));
  return given != merged.given.end() && given->second.value.Truth();
}

bool IsBinary(const OptionLayer& merged) {
  const auto family = merged.given.find(&Flag("--bt"));
  return family != merged.given.end() && family->second.value.Text() == "binary";
}

// Options of binary traits that the user gave for quantitative ones.
Result<void> CheckFamily(const OptionLayer& merged) {
  if (IsBinary(merged)) return {};
  std::string names;
  for (const auto& [spec, given] : merged.given) {
    if (!spec->binary_only || given.value.Text() == "false") continue;
    names += (names.empty() ? "" : ", ") + given.spelled;
  }
  if (names.empty()) return {};
  return UsageError("options of binary traits are given for quantitative ones: " + names,
                    "Leave them out, or give --bt.");
}

Result<void> CheckLayouts(const ScanRequest& scan) {
  const bool text = scan.format != OutputFormat::kParquet;
  if (!text && (scan.no_split || scan.af_cc || !scan.htp.empty())) {
    return UsageError(
        "--no-split, --htp and --af-cc shape text files, and --format parquet writes "
        "none",
        "Use --format regenie or both.");
  }
  if (!scan.htp.empty() && (scan.no_split || scan.af_cc)) {
    return UsageError("--htp has a layout of its own", "Leave --no-split and --af-cc out with it.");
  }
  if (scan.no_split && scan.af_cc) {
    return UsageError("--af-cc adds columns to split files", "Leave out --no-split or --af-cc.");
  }
  const auto is_unprintable = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (std::any_of(scan.htp.begin(), scan.htp.end(), is_unprintable)) {
    return UsageError(
        "the cohort name of --htp holds a tab, a line break or another control "
        "character",
        "It becomes a cell of a tab-separated table: use plain text.");
  }
  if (scan.exact_p && scan.htp.empty()) {
    return UsageError("--exact-p belongs to --htp", "Leave it out.");
  }
  if (scan.cohort.family == TraitFamily::kBinary && scan.cohort.apply_rint) {
    return UsageError("--apply-rint transforms quantitative traits", "Leave it out with --bt.");
  }
  return {};
}

// A correction named on the command line replaces the file's, whatever words either uses.
void DropOtherCorrections(const OptionLayer& flags, OptionLayer& merged) {
  const std::string_view names[] = {"--firth", "--approx", "--spa", "--binary-fallback"};
  const bool named = std::any_of(std::begin(names), std::end(names),
                                 [&](std::string_view name) { return flags.Has(Flag(name)); });
  if (!named) return;
  for (const std::string_view name : names) {
    if (!flags.Has(Flag(name))) merged.given.erase(&Flag(name));
  }
}

// Options that REGENIE takes without a word where they do nothing.
std::vector<std::string> NotesOnIdleOptions(const OptionLayer& given, const ScanRequest& scan) {
  std::vector<std::string> notes;
  const BinaryCorrection correction = scan.binary.correction;
  if (given.Has(Flag("--pThresh")) && correction == BinaryCorrection::kNone) {
    notes.push_back("--pThresh does nothing without --firth or --spa");
  }
  for (const char* name : {"--maxstep-null", "--maxiter-null"}) {
    if (given.Has(Flag(name)) && correction != BinaryCorrection::kFirthApproximate) {
      notes.push_back(std::string(name) + " does nothing without --firth --approx");
    }
  }
  if (scan.cohort.family == TraitFamily::kBinary && scan.cohort.force_qt) {
    notes.push_back("--force-qt does nothing with --bt");
  }
  return notes;
}

// As in REGENIE, limits given by the user are the only ones: no retries with others.
void SetNullRetries(const OptionLayer& given, ScanRequest& scan) {
  scan.binary.null_firth.retries =
      !given.Has(Flag("--maxstep-null")) && !given.Has(Flag("--maxiter-null"));
}

}  // namespace

Result<ResolvedOptions> ResolveOptions(const OptionLayer& flags) {
  OptionLayer merged;
  const auto config = flags.given.find(&Flag("--config"));
  if (config != flags.given.end()) {
    TALLELE_ASSIGN(merged, ReadTomlLayer(config->second.value.Text()));
  }
  DropOtherCorrections(flags, merged);
  for (const auto& [spec, given] : flags.given) merged.given[spec] = given;
  const OptionLayer given = merged;
  TALLELE_TRY(ChooseFormat(flags, merged));
  TALLELE_TRY(CheckFamily(merged));
  ResolvedOptions resolved;
  SetNullRetries(merged, resolved.settings.scan);
  const bool binary = IsBinary(merged);
  TALLELE_TRY(AddDefaults(merged, binary));
  for (const auto& [spec, option] : merged.given) {
    if (spec->apply != nullptr) spec->apply(option.value, resolved.settings);
  }
  if (IsTrue(merged, "--resume") && IsTrue(merged, "--overwrite")) {
    return UsageError("--resume and --overwrite exclude each other", "Give one of them.");
  }
  TALLELE_TRY(ChooseCorrection(resolved.settings));
  TALLELE_TRY(CheckLayouts(resolved.settings.scan));
  resolved.notes = NotesOnIdleOptions(given, resolved.settings.scan);
  TALLELE_TRY(CheckInputs(resolved.settings.scan));
  TALLELE_TRY(CheckFiles(resolved.settings.scan));
  resolved.effective_toml = EffectiveToml(merged);
  return resolved;
}

}  // namespace tallele

#include "config/option_table.h"

#include <iterator>
#include <utility>

#include "config/binary_option_table.h"

namespace tallele {
namespace {

using Value = OptionValue;
using Settings = RegenieSettings;
using Specs = std::vector<OptionSpec>;

constexpr char kGenotypes[] = "Genotypes";
constexpr char kTraits[] = "Traits and covariates";
constexpr char kPeople[] = "People";
constexpr char kVariants[] = "Variants";
constexpr char kTest[] = "Test";
constexpr char kPredictions[] = "Predictions of step 1";
constexpr char kOutput[] = "Output";
constexpr char kSafety[] = "Interrupted runs";
constexpr char kWork[] = "Work";
constexpr char kConfig[] = "Configuration";

Specs GenotypeOptions() {
  return {
      {.group = kGenotypes,
       .flags = {{"--bgen"}},
       .section = "input",
       .key = "bgen",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "BGEN file, layout 1 or 2, any bits and compression. Exactly one of --bgen and "
               "--bed is needed",
       .apply = [](const Value& v, Settings& s) { s.scan.bgen = v.Text(); }},
      {.group = kGenotypes,
       .flags = {{"--sample"}},
       .section = "input",
       .key = "sample",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "Oxford sample file of the BGEN file",
       .default_note = "the identifiers inside the BGEN file",
       .apply = [](const Value& v, Settings& s) { s.scan.sample = v.Text(); }},
      {.group = kGenotypes,
       .flags = {{"--bgi"}},
       .section = "input",
       .key = "bgi",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "bgenix index of the BGEN file; checked against it, never needed",
       .default_note = "<bgen>.bgi if it exists",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.bgi = v.Text(); }},
      {.group = kGenotypes,
       .flags = {{"--bed"}},
       .section = "input",
       .key = "bed",
       .type = OptionType::kPath,
       .placeholder = "PREFIX",
       .help = "PLINK 1 files PREFIX.bed, .bim and .fam",
       .apply = [](const Value& v, Settings& s) { s.scan.bed = v.Text(); }},
      {.group = kGenotypes,
       .flags = {{"--ref-first"}},
       .section = "input",
       .key = "ref_first",
       .type = OptionType::kFlag,
       .help = "The first allele of a variant is the reference (ALLELE0); else the last one is",
       .default_value = "false",
       .apply = [](const Value& v, Settings& s) { s.scan.ref_first = v.Truth(); }},
  };
}

Specs PhenotypeOptions() {
  return {
      {.group = kTraits,
       .flags = {{"--phenoFile"}, {"-p"}},
       .section = "input",
       .key = "pheno_file",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "Table of traits with a header that begins FID IID. Required",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.pheno_file = v.Text(); }},
      {.group = kTraits,
       .flags = {{"--phenoCol"}, {"--phenoColList"}},
       .section = "input",
       .key = "pheno_columns",
       .type = OptionType::kColumnList,
       .placeholder = "NAME[,NAME..]",
       .help = "Traits to test; repeatable; Y{1:5} stands for Y1 to Y5",
       .default_note = "every column",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.pheno_columns = v.items; }},
      {.group = kTraits,
       .flags = {{"--phenoExcludeList"}},
       .section = "input",
       .key = "pheno_exclude_columns",
       .type = OptionType::kColumnList,
       .placeholder = "NAME[,NAME..]",
       .help = "Traits to leave out",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.pheno_exclude = v.items; }},
      {.group = kTraits,
       .flags = {{"--qt", "quantitative"}, {"--bt", "binary"}},
       .section = "trait",
       .key = "trait_type",
       .aliases = {{"qt", "true", "quantitative"}, {"bt", "true", "binary"}},
       .type = OptionType::kChoice,
       .help = "Quantitative or binary (case-control) traits",
       .default_value = "quantitative",
       .choices = {{"quantitative"}, {"binary"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.cohort.family =
                 v.Text() == "binary" ? TraitFamily::kBinary : TraitFamily::kQuantitative;
           }},
      {.group = kTraits,
       .flags = {{"--apply-rint"}},
       .section = "trait",
       .key = "apply_rint",
       .type = OptionType::kFlag,
       .help = "Rank-inverse-normal transform of each trait over its own people, before anything "
               "else",
       .default_value = "false",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.apply_rint = v.Truth(); }},
      {.group = kTraits,
       .flags = {{"--force-qt"}},
       .section = "trait",
       .key = "force_qt",
       .type = OptionType::kFlag,
       .help = "Allow quantitative traits with two values or fewer",
       .default_value = "false",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.force_qt = v.Truth(); }},
      {.group = kTraits,
       .flags = {{"--missing-code"}},
       .section = "input",
       .key = "missing_codes",
       .type = OptionType::kTextList,
       .placeholder = "CODE[,CODE..]",
       .help = "Further codes for a missing value, such as -9, in both tables",
       .default_note = "only empty, NA, NaN, nan and .",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.missing_codes = v.items; }},
  };
}

Specs CovariateOptions() {
  return {
      {.group = kTraits,
       .flags = {{"--covarFile"}, {"-c"}},
       .section = "input",
       .key = "covar_file",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "Table of covariates with a header that begins FID IID",
       .default_note = "intercept only",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.covar_file = v.Text(); }},
      {.group = kTraits,
       .flags = {{"--covarCol"}, {"--covarColList"}},
       .section = "input",
       .key = "covar_columns",
       .type = OptionType::kColumnList,
       .placeholder = "NAME[,NAME..]",
       .help = "Covariates to use; repeatable; PC{1:10} stands for PC1 to PC10",
       .default_note = "every column",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.covar_columns = v.items; }},
      {.group = kTraits,
       .flags = {{"--covarExcludeList"}},
       .section = "input",
       .key = "covar_exclude_columns",
       .type = OptionType::kColumnList,
       .placeholder = "NAME[,NAME..]",
       .help = "Covariates to leave out",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.covar_exclude = v.items; }},
      {.group = kTraits,
       .flags = {{"--catCovarList"}},
       .section = "input",
       .key = "categorical_covariates",
       .type = OptionType::kColumnList,
       .placeholder = "NAME[,NAME..]",
       .help = "Covariates that are categories; each level but one gets its own column",
       .apply = [](const Value& v,
                   Settings& s) { s.scan.cohort.categorical_covariates = v.items; }},
      {.group = kTraits,
       .flags = {{"--maxCatLevels"}},
       .section = "input",
       .key = "maximum_categorical_levels",
       .type = OptionType::kInteger,
       .placeholder = "N",
       .help = "A categorical covariate with more levels is an error",
       .default_value = "10",
       .minimum = 2,
       .apply = [](const Value& v,
                   Settings& s) { s.scan.cohort.max_categorical_levels = v.Integer(); }},
  };
}

Specs PeopleOptions() {
  return {
      {.group = kPeople,
       .flags = {{"--keep"}},
       .section = "input",
       .key = "keep",
       .type = OptionType::kPathList,
       .placeholder = "FILE[,FILE..]",
       .help = "Files of people (FID IID) to keep; not together with --remove",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.keep_files = v.items; }},
      {.group = kPeople,
       .flags = {{"--remove"}},
       .section = "input",
       .key = "remove",
       .type = OptionType::kPathList,
       .placeholder = "FILE[,FILE..]",
       .help = "Files of people (FID IID) to leave out",
       .apply = [](const Value& v, Settings& s) { s.scan.cohort.remove_files = v.items; }},
      {.group = kPeople,
       .flags = {{"--sex-specific"}},
       .section = "input",
       .key = "sex_specific",
       .type = OptionType::kChoice,
       .placeholder = "male|female",
       .help = "Analyse one sex only; with --bgen it needs --sample",
       .default_note = "everybody",
       .choices = {{"male"}, {"female"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.cohort.sex_filter = v.Text() == "male" ? Sex::kMale : Sex::kFemale;
           }},
      {.group = kPeople,
       .flags = {{"--multi-phenotype-sample-mode"}, {"--strict", "complete-case"}},
       .section = "compute",
       .key = "multi_phenotype_sample_mode",
       .type = OptionType::kChoice,
       .placeholder = "MODE",
       .help = "per-phenotype: each trait uses its own people, and its rows are the same bits "
               "whichever traits run with it. complete-case (or --strict): one shared "
               "intersection over all traits",
       .default_value = "per-phenotype",
       .choices = {{"per-phenotype"}, {"complete-case"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.cohort.sample_mode = v.Text() == "complete-case" ? SampleMode::kCompleteCase
                                                                     : SampleMode::kPerPhenotype;
           }},
  };
}

Specs VariantOptions() {
  return {
      {.group = kVariants,
       .flags = {{"--extract"}},
       .section = "input",
       .key = "extract",
       .type = OptionType::kPathList,
       .placeholder = "FILE[,FILE..]",
       .help = "Files of variant identifiers to test, the first word of each line",
       .apply = [](const Value& v, Settings& s) { s.scan.extract_files = v.items; }},
      {.group = kVariants,
       .flags = {{"--exclude"}},
       .section = "input",
       .key = "exclude",
       .type = OptionType::kPathList,
       .placeholder = "FILE[,FILE..]",
       .help = "Files of variant identifiers to leave out; wins over --extract",
       .apply = [](const Value& v, Settings& s) { s.scan.exclude_files = v.items; }},
      {.group = kVariants,
       .flags = {{"--chr"}, {"--chrList"}},
       .section = "input",
       .key = "chromosomes",
       .type = OptionType::kTextList,
       .placeholder = "CHR[,CHR..]",
       .help = "Chromosomes to test; repeatable; X, chrX and 23 are one",
       .default_note = "all",
       .apply = [](const Value& v, Settings& s) { s.scan.chromosomes = v.items; }},
      {.group = kVariants,
       .flags = {{"--range"}},
       .section = "input",
       .key = "range",
       .type = OptionType::kText,
       .placeholder = "CHR:A-B",
       .help = "Window of positions to test, ends included",
       .apply = [](const Value& v, Settings& s) { s.scan.range = v.Text(); }},
      {.group = kVariants,
       .flags = {{"--nauto"}},
       .section = "input",
       .key = "num_autosomes",
       .type = OptionType::kInteger,
       .placeholder = "N",
       .help = "Number of autosomes; X is written as the next number",
       .default_value = "22",
       .minimum = 2,
       .maximum = 1000,
       .apply = [](const Value& v, Settings& s) { s.scan.num_autosomes = v.Integer(); }},
      {.group = kVariants,
       .flags = {{"--par-region"}},
       .section = "input",
       .key = "par_region",
       .type = OptionType::kText,
       .placeholder = "BUILD",
       .help = "Genome build (b36, hg18, b37, hg19, b38, hg38), or first,last position of X "
               "outside the pseudo-autosomal regions",
       .default_value = "hg38",
       .apply = [](const Value& v, Settings& s) { s.scan.par_region = v.Text(); }},
      {.group = kVariants,
       .flags = {{"--minMAC"}},
       .section = "input",
       .key = "min_mac",
       .type = OptionType::kNumber,
       .placeholder = "X",
       .help = "Skip a variant whose minor allele count over the trait's own people is lower",
       .default_value = "5",
       .minimum = 0.5,
       .apply = [](const Value& v, Settings& s) { s.scan.min_mac = v.Number(); }},
      {.group = kVariants,
       .flags = {{"--minINFO"}},
       .section = "input",
       .key = "min_info",
       .type = OptionType::kNumber,
       .placeholder = "X",
       .help = "Skip a variant whose INFO over the trait's own people is lower",
       .default_value = "0",
       .minimum = 0,
       .maximum = 1,
       .apply = [](const Value& v, Settings& s) { s.scan.min_info = v.Number(); }},
  };
}

Specs TestOptions() {
  return {
      {.group = kTest,
       .flags = {{"--test"}},
       .section = "trait",
       .key = "test",
       .type = OptionType::kChoice,
       .placeholder = "MODEL",
       .help = "Genetic model: additive, dominant or recessive",
       .default_value = "additive",
       .choices = {{"additive"}, {"dominant"}, {"recessive"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.model = v.Text() == "dominant"    ? GeneticModel::kDominant
                            : v.Text() == "recessive" ? GeneticModel::kRecessive
                                                      : GeneticModel::kAdditive;
           }},
      {.group = kTest,
       .flags = {{"--minHOMs"}},
       .section = "trait",
       .key = "min_homs",
       .type = OptionType::kNumber,
       .placeholder = "X",
       .help = "With --test recessive: skip a variant with fewer homozygotes",
       .default_value = "0",
       .minimum = 0,
       .apply = [](const Value& v, Settings& s) { s.scan.min_homs = v.Number(); }},
      {.group = kPredictions,
       .flags = {{"--pred"}},
       .section = "input",
       .key = "pred",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "List of LOCO prediction files that step 1 of REGENIE wrote. Required unless "
               "--ignore-pred",
       .apply = [](const Value& v, Settings& s) { s.scan.pred = v.Text(); }},
      {.group = kPredictions,
       .flags = {{"--ignore-pred"}},
       .section = "input",
       .key = "ignore_pred",
       .type = OptionType::kFlag,
       .help = "Test without predictions: plain linear or logistic regression",
       .default_value = "false",
       .apply = [](const Value& v, Settings& s) { s.scan.ignore_pred = v.Truth(); }},
  };
}

// Layouts of REGENIE's text files.
Specs TextLayoutOptions() {
  return {
      {.group = kOutput,
       .flags = {{"--no-split"}},
       .section = "output",
       .key = "no_split",
       .type = OptionType::kFlag,
       .help = "Text: one file <out>.regenie for all traits, and <out>.regenie.Ydict with their "
               "names",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.no_split = v.Truth(); }},
      {.group = kOutput,
       .flags = {{"--htp"}},
       .section = "output",
       .key = "htp",
       .type = OptionType::kText,
       .placeholder = "COHORT",
       .help = "Text: REGENIE's 22-column table for meta-analysis, with this cohort name",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.htp = v.Text(); }},
      {.group = kOutput,
       .flags = {{"--exact-p"}},
       .section = "output",
       .key = "exact_p",
       .type = OptionType::kFlag,
       .help = "With --htp: p-values below 2.2e-307 as they are",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.exact_p = v.Truth(); }},
      {.group = kOutput,
       .flags = {{"--af-cc"}},
       .section = "output",
       .key = "af_cc",
       .type = OptionType::kFlag,
       .help = "Text of binary traits: allele frequencies and numbers of cases and controls "
               "(Parquet always has them)",
       .default_value = "false",
       .changes_results = false,
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.scan.af_cc = v.Truth(); }},
  };
}

Specs OutputOptions() {
  return {
      {.group = kOutput,
       .flags = {{"--out"}, {"-o"}},
       .section = "output",
       .key = "out",
       .type = OptionType::kPath,
       .placeholder = "PREFIX",
       .help = "Prefix of every output file. Required",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.out = v.Text(); }},
      {.group = kOutput,
       .flags = {{"--output-run-directory"}},
       .section = "output",
       .key = "output_run_directory",
       .type = OptionType::kPath,
       .placeholder = "DIR",
       .help = "Folder of the Parquet datasets",
       .default_note = "<out>.tallele",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.run_directory = v.Text(); }},
      {.group = kOutput,
       .flags = {{"--format"}},
       .section = "output",
       .key = "format",
       .type = OptionType::kChoice,
       .placeholder = "FORMAT",
       .help = "parquet, regenie (text files <out>_<trait>.regenie) or both",
       .default_value = "parquet",
       .default_note = "both with --step or a text option",
       .changes_results = false,
       .choices = {{"parquet"}, {"regenie"}, {"both"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.format = v.Text() == "both"      ? OutputFormat::kBoth
                             : v.Text() == "regenie" ? OutputFormat::kRegenie
                                                     : OutputFormat::kParquet;
           }},
      {.group = kOutput,
       .flags = {{"--gz"}},
       .section = "output",
       .key = "gzip",
       .type = OptionType::kFlag,
       .help = "Compress the text files",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.gzip = v.Truth(); }},
      {.group = kOutput,
       .flags = {{"--statistic-dtype"}},
       .section = "output",
       .key = "statistic_dtype",
       .type = OptionType::kChoice,
       .placeholder = "TYPE",
       .help = "Type of the real columns in Parquet: float64 or float32",
       .default_value = "float64",
       .choices = {{"float64"}, {"float32"}},
       .apply = [](const Value& v,
                   Settings& s) { s.scan.float32_statistics = v.Text() == "float32"; }},
      {.group = kOutput,
       .flags = {{"--write-samples"}},
       .section = "output",
       .key = "write_samples",
       .type = OptionType::kFlag,
       .help = "Write the people of each trait to <out>_<trait>.regenie.ids",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.write_samples = v.Truth(); }},
      {.group = kOutput,
       .flags = {{"--print-pheno"}},
       .section = "output",
       .key = "print_pheno",
       .type = OptionType::kFlag,
       .help = "With --write-samples: the trait's name as the first line",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.print_pheno = v.Truth(); }},
  };
}

Specs DiagnosticOptions() {
  return {
      {.group = kOutput,
       .flags = {{"--quiet"}},
       .section = "diagnostics",
       .key = "quiet",
       .type = OptionType::kFlag,
       .help = "Print warnings and errors only; the log file has everything",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.quiet = v.Truth(); }},
      {.group = kOutput,
       .flags = {{"--verbose"}, {"-v"}, {"--debug"}},
       .section = "diagnostics",
       .key = "verbose",
       .type = OptionType::kFlag,
       .help = "Print details that otherwise go to the log file only",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.verbose = v.Truth(); }},
  };
}

Specs TelemetryOptions() {
  return {
      {.group = kOutput,
       .flags = {{"--telemetry"}},
       .section = "diagnostics",
       .key = "telemetry",
       .type = OptionType::kChoice,
       .placeholder = "MODE",
       .help =
           "Events for machines in the run folder, logs/events.jsonl: off, progress, or profile "
           "(adds logs/profile.json for `tallele profile-report`). No effect on results",
       .default_value = "progress",
       .changes_results = false,
       .choices = {{"off"}, {"progress"}, {"profile"}},
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.safety.telemetry = v.Text() == "off"       ? Telemetry::kOff
                                       : v.Text() == "profile" ? Telemetry::kProfile
                                                               : Telemetry::kProgress;
           }},
  };
}

Specs SafetyOptions() {
  return {
      {.group = kSafety,
       .flags = {{"--dry-run"}},
       .section = "diagnostics",
       .key = "dry_run",
       .type = OptionType::kFlag,
       .help = "Check everything, time some blocks, print the plan with the expected time, memory "
               "and output of each chromosome, and write nothing",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.dry_run = v.Truth(); }},
      {.group = kSafety,
       .flags = {{"--resume"}},
       .section = "output",
       .key = "resume",
       .type = OptionType::kFlag,
       .help = "Finish the run in the run folder: compute only the parts that are missing. Refused "
               "when an input or option that changes results differs",
       .default_value = "false",
       .changes_results = false,
       .apply =
           [](const Value& v, Settings& s) {
             if (v.Truth()) s.scan.safety.existing = ExistingRun::kResume;
           }},
      {.group = kSafety,
       .flags = {{"--overwrite"}},
       .section = "output",
       .key = "overwrite",
       .type = OptionType::kFlag,
       .help = "Replace the run in the run folder; removes only what tallele wrote",
       .default_value = "false",
       .changes_results = false,
       .apply =
           [](const Value& v, Settings& s) {
             if (v.Truth()) s.scan.safety.existing = ExistingRun::kOverwrite;
           }},
      {.group = kSafety,
       .flags = {{"--verify-inputs"}},
       .section = "input",
       .key = "verify_inputs",
       .type = OptionType::kFlag,
       .help = "Hash the whole genotype file, not only a sample of it, and compare it with an "
               "earlier whole hash on --resume",
       .default_value = "false",
       .changes_results = false,
       .apply = [](const Value& v, Settings& s) { s.scan.safety.verify_inputs = v.Truth(); }},
  };
}

Specs WorkOptions() {
  return {
      {.group = kWork,
       .flags = {{"--bsize"}, {"-b"}},
       .section = "trait",
       .key = "bsize",
       .type = OptionType::kInteger,
       .placeholder = "N",
       .help = "Most variants in one block, fewer if memory is short; never changes results",
       .default_note = "chosen from memory",
       .changes_results = false,
       .minimum = 1,
       .maximum = 1 << 24,
       .apply = [](const Value& v,
                   Settings& s) { s.scan.block_size = static_cast<size_t>(v.Integer()); }},
      {.group = kWork,
       .flags = {{"--threads"}},
       .section = "compute",
       .key = "cpu_threads",
       .type = OptionType::kInteger,
       .placeholder = "N",
       .help = "Worker threads; never changes results",
       .default_note = "all processors",
       .changes_results = false,
       .minimum = 1,
       .maximum = 4096,
       .apply = [](const Value& v, Settings& s) { s.scan.threads = v.Integer(); }},
      {.group = kWork,
       .flags = {{"--device"}},
       .section = "compute",
       .key = "device",
       .type = OptionType::kChoice,
       .placeholder = "DEVICE",
       .help = "Where to compute: cpu",
       .default_value = "cpu",
       .changes_results = false,
       .choices = {{"cpu"},
                   {"gpu",
                    "this program computes on the processor only. Use device cpu; reading "
                    "and inflating genotypes is what takes the time"}}},
      {.group = kConfig,
       .flags = {{"--config"}},
       .section = "",
       .key = "",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help = "TOML file; flags win over it. Every run writes its own as effective_config.toml",
       .changes_results = false},
      {.group = kConfig,
       .flags = {{"--step"}},
       .section = "",
       .key = "",
       .type = OptionType::kChoice,
       .placeholder = "2",
       .help = "REGENIE's step; 2 may be left out. Step 1 is refused for now",
       .changes_results = false,
       .choices = {{"2"},
                   {"1",
                    "this program tests variants (step 2). Run step 1 with REGENIE and give "
                    "its list of predictions with --pred"}}},
  };
}

Specs BuildTable() {
  Specs table;
  for (Specs (*part)() :
       {GenotypeOptions, PhenotypeOptions, CovariateOptions, PeopleOptions, VariantOptions,
        TestOptions, BinaryOptionSpecs, TextLayoutOptions, OutputOptions, DiagnosticOptions,
        TelemetryOptions, SafetyOptions, WorkOptions}) {
    Specs specs = part();
    std::move(specs.begin(), specs.end(), std::back_inserter(table));
  }
  return table;
}

}  // namespace

std::span<const OptionSpec> RegenieOptions() {
  static const Specs table = BuildTable();
  return table;
}

const OptionSpec* FindFlag(std::string_view flag) {
  for (const OptionSpec& spec : RegenieOptions()) {
    for (const FlagSpelling& spelling : spec.flags) {
      if (spelling.name == flag) return &spec;
    }
  }
  return nullptr;
}

const OptionSpec* FindKey(std::string_view section, std::string_view key) {
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.section != section || spec.section.empty()) continue;
    if (spec.key == key) return &spec;
    for (const KeyAlias& alias : spec.aliases) {
      if (alias.key == key) return &spec;
    }
  }
  return nullptr;
}

const OptionSpec& OptionByKey(std::string_view section, std::string_view key) {
  return *FindKey(section, key);
}

}  // namespace tallele

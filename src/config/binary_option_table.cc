#include "config/binary_option_table.h"

namespace tallele {
namespace {

using Value = OptionValue;
using Settings = RegenieSettings;
using Specs = std::vector<OptionSpec>;

constexpr char kBinary[] = "Binary traits";
constexpr char kLimits[] = "Limits of the binary solvers (TOML, [compute])";

// A limit of a solver: a key of [compute] that may have a flag.
OptionSpec Limit(const char* key, OptionType type, const char* default_value, const char* help,
                 void (*apply)(const Value&, Settings&), std::vector<FlagSpelling> flags = {}) {
  OptionSpec spec;
  spec.group = flags.empty() ? kLimits : kBinary;
  spec.flags = std::move(flags);
  spec.section = "compute";
  spec.key = key;
  spec.type = type;
  spec.placeholder = type == OptionType::kInteger ? "N" : "X";
  spec.help = help;
  spec.default_value = default_value;
  spec.minimum = type == OptionType::kInteger ? 1 : 1e-300;
  if (type == OptionType::kInteger) spec.maximum = 1000000;
  spec.binary_only = true;
  spec.apply = apply;
  return spec;
}

OptionSpec Switch(const char* flag, const char* key, const char* help,
                  void (*apply)(const Value&, Settings&)) {
  OptionSpec spec;
  spec.group = kBinary;
  spec.flags = {{flag}};
  spec.section = "binary";
  spec.key = key;
  spec.type = OptionType::kFlag;
  spec.help = help;
  spec.default_value = "false";
  spec.binary_only = true;
  spec.apply = apply;
  return spec;
}

Specs CorrectionOptions() {
  return {
      {.group = kBinary,
       .flags = {{"--cc12"}, {"-1"}},
       .section = "binary",
       .key = "cc12",
       .type = OptionType::kFlag,
       .help = "Controls are 1 and cases 2 in the table, not 0 and 1",
       .default_value = "false",
       .binary_only = true,
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.cohort.binary_coding =
                 v.Truth() ? BinaryCoding::kOneTwo : BinaryCoding::kZeroOne;
           }},
      Switch("--firth", "firth",
             "Firth regression where the score test's p-value is below --pThresh: exact, or "
             "approximate with --approx",
             [](const Value& v, Settings& s) { s.firth = v.Truth(); }),
      Switch("--approx", "approx",
             "With --firth: one free coefficient beside a null Firth model; much faster",
             [](const Value& v, Settings& s) { s.approx = v.Truth(); }),
      Switch("--spa", "spa", "Saddlepoint approximation where the p-value is below --pThresh",
             [](const Value& v, Settings& s) { s.spa = v.Truth(); }),
      {.group = kBinary,
       .flags = {{"--binary-fallback"}},
       .section = "binary",
       .key = "fallback_method",
       .type = OptionType::kChoice,
       .placeholder = "METHOD",
       .help = "The same in one word: score_only, firth_approximate, firth_exact or spa",
       .default_note = "score_only",
       .choices = {{"score_only"}, {"firth_approximate"}, {"firth_exact"}, {"spa"}},
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.binary_fallback = v.Text(); }},
      {.group = kBinary,
       .flags = {{"--pThresh"}},
       .section = "binary",
       .key = "p_threshold",
       .type = OptionType::kNumber,
       .placeholder = "P",
       .help = "Score tests with a smaller p-value are corrected",
       .default_value = "0.05",
       .minimum = 0,
       .maximum = 1,
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.scan.binary.p_threshold = v.Number(); }},
      Switch("--firth-se", "firth_se",
             "SE = |BETA| / sqrt(CHISQ) of Firth rows, so that SE and p-value agree",
             [](const Value& v, Settings& s) { s.scan.binary.firth_se = v.Truth(); }),
      Switch("--skip-fast-firth", "skip_fast_firth",
             "Sum over everyone also for rare variants, where the default sums over carriers alone",
             [](const Value& v, Settings& s) { s.scan.binary.carriers_only_firth = !v.Truth(); }),
      {.group = kBinary,
       .flags = {{"--use-null-firth"}},
       .section = "binary",
       .key = "use_null_firth",
       .type = OptionType::kPath,
       .placeholder = "FILE",
       .help =
           "With --firth --approx: null Firth models start from the coefficients that this list "
           "names (<out>_firth.list of --write-null-firth)",
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.scan.use_null_firth = v.Text(); }},
      {.group = kBinary,
       .flags = {{"--write-null-firth"}},
       .section = "binary",
       .key = "write_null_firth",
       .type = OptionType::kFlag,
       .help = "With --firth --approx: store the null Firth models of the tested chromosomes in "
               "<out>_<trait number>.firth, listed in <out>_firth.list",
       .default_value = "false",
       .changes_results = false,
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.scan.write_null_firth = v.Truth(); }},
      {.group = kBinary,
       .flags = {{"--minCaseCount"}},
       .section = "binary",
       .key = "min_case_count",
       .type = OptionType::kInteger,
       .placeholder = "N",
       .help = "A trait with fewer cases is left out",
       .default_value = "10",
       .minimum = 1,
       .binary_only = true,
       .apply = [](const Value& v, Settings& s) { s.scan.binary.min_cases = v.Integer(); }},
      {.group = kLimits,
       .flags = {},
       .section = "compute",
       .key = "null_logistic_nonconvergence_policy",
       .type = OptionType::kChoice,
       .help = "A null model that fails: warn goes on with the other traits (exit code 3), fail "
               "ends the run",
       .default_value = "warn",
       .choices = {{"warn"}, {"fail"}},
       .binary_only = true,
       .apply =
           [](const Value& v, Settings& s) {
             s.scan.binary.null_failure =
                 v.Text() == "fail" ? NullFailurePolicy::kFail : NullFailurePolicy::kWarn;
           }},
  };
}

Specs NullLimits() {
  const auto integer = OptionType::kInteger;
  const auto number = OptionType::kNumber;
  return {
      Limit("binary_null_maximum_iterations", integer, "50", "Steps of the null logistic model",
            [](const Value& v, Settings& s) { s.scan.binary.null_iterations = v.Integer(); },
            {{"--niter"}}),
      Limit(
          "null_firth_maximum_iterations", integer, "1000",
          "Steps of the null Firth model; given explicitly, its retries with smaller steps are off",
          [](const Value& v, Settings& s) {
            s.scan.binary.null_firth.max_iterations = v.Integer();
          },
          {{"--maxiter-null"}}),
      Limit("null_firth_maximum_step_size", number, "25",
            "Largest step of the null Firth model; given explicitly, its retries are off",
            [](const Value& v, Settings& s) { s.scan.binary.null_firth.max_step = v.Number(); },
            {{"--maxstep-null"}}),
      Limit("null_firth_gradient_tolerance", number, "5e-5",
            "The null Firth model has converged below this modified score",
            [](const Value& v, Settings& s) {
              s.scan.binary.null_firth.gradient_tolerance = v.Number();
            }),
      Limit("null_firth_fallback_iteration_multiplier", integer, "5",
            "Steps of its retries, as a multiple",
            [](const Value& v, Settings& s) {
              s.scan.binary.null_firth.retry_iteration_factor = v.Integer();
            }),
      Limit("null_firth_fallback_step_divisor", number, "5",
            "Largest step of its retries, as a part",
            [](const Value& v, Settings& s) {
              s.scan.binary.null_firth.retry_step_divisor = v.Number();
            }),
      Limit(
          "null_firth_line_search_maximum_attempts", integer, "25",
          "Times that a step of it is shortened",
          [](const Value& v, Settings& s) { s.scan.binary.null_firth.max_halvings = v.Integer(); }),
      Limit(
          "null_firth_step_halving_scale", number, "0.5", "By how much, below 1",
          [](const Value& v, Settings& s) { s.scan.binary.null_firth.halving_scale = v.Number(); }),
  };
}

Specs FirthLimitOptions() {
  const auto integer = OptionType::kInteger;
  const auto number = OptionType::kNumber;
  return {
      Limit("firth_maximum_iterations", integer, "250",
            "Steps of a variant's Firth fit: half with pseudo data, half by Newton; 4 or more",
            [](const Value& v, Settings& s) { s.scan.binary.firth.max_iterations = v.Integer(); }),
      Limit(
          "firth_gradient_tolerance", number, "2.5e-4",
          "It has converged below this modified score",
          [](const Value& v, Settings& s) { s.scan.binary.firth.gradient_tolerance = v.Number(); }),
      Limit("firth_maximum_step_size", number, "5", "Its largest step",
            [](const Value& v, Settings& s) { s.scan.binary.firth.max_step = v.Number(); }),
      Limit("firth_pseudo_maximum_iterations", integer, "50",
            "Its pseudo-data steps where everyone is summed",
            [](const Value& v, Settings& s) {
              s.scan.binary.firth.max_pseudo_iterations = v.Integer();
            }),
      Limit("firth_pseudo_inner_maximum_iterations", integer, "25",
            "Logistic steps in each of them",
            [](const Value& v, Settings& s) {
              s.scan.binary.firth.max_inner_iterations = v.Integer();
            }),
      Limit("firth_line_search_maximum_attempts", integer, "25",
            "Times that a Newton step is halved",
            [](const Value& v, Settings& s) { s.scan.binary.firth.max_halvings = v.Integer(); }),
      Limit("firth_sparse_carrier_dosage_threshold", number, "1e-4",
            "A dosage above this is a carrier's; at most 2",
            [](const Value& v, Settings& s) { s.scan.binary.firth.carrier_dosage = v.Number(); }),
  };
}

Result<BinaryCorrection> FromFlags(const RegenieSettings& s) {
  if (s.approx && !s.firth) {
    return UsageError("--approx says how --firth works, and --firth is not given",
                      "Give --firth --approx, or leave --approx out.");
  }
  if (s.firth && s.spa) {
    return UsageError("--firth and --spa are two corrections",
                      "Give one of them. (REGENIE takes --firth when it is given both.)");
  }
  if (s.firth) {
    return s.approx ? BinaryCorrection::kFirthApproximate : BinaryCorrection::kFirthExact;
  }
  return s.spa ? BinaryCorrection::kSaddlepoint : BinaryCorrection::kNone;
}

BinaryCorrection FromName(const std::string& name) {
  return name == "firth_approximate" ? BinaryCorrection::kFirthApproximate
         : name == "firth_exact"     ? BinaryCorrection::kFirthExact
         : name == "spa"             ? BinaryCorrection::kSaddlepoint
                                     : BinaryCorrection::kNone;
}

}  // namespace

Specs BinaryOptionSpecs() {
  Specs all;
  for (Specs (*part)() : {CorrectionOptions, NullLimits, FirthLimitOptions}) {
    Specs specs = part();
    all.insert(all.end(), specs.begin(), specs.end());
  }
  return all;
}

Result<void> ChooseCorrection(RegenieSettings& settings) {
  BinaryOptions& binary = settings.scan.binary;
  TALLELE_ASSIGN(binary.correction, FromFlags(settings));
  if (!settings.binary_fallback.empty()) {
    const BinaryCorrection named = FromName(settings.binary_fallback);
    if (binary.correction != BinaryCorrection::kNone && named != binary.correction) {
      return UsageError(
          "--binary-fallback " + settings.binary_fallback + " contradicts --firth or --spa",
          "Give one of them.");
    }
    binary.correction = named;
  }
  const bool firth = binary.correction == BinaryCorrection::kFirthApproximate ||
                     binary.correction == BinaryCorrection::kFirthExact;
  if (binary.firth_se && !firth) {
    return UsageError("--firth-se needs a Firth correction", "Give --firth --approx with it.");
  }
  if (!binary.carriers_only_firth && binary.correction != BinaryCorrection::kFirthApproximate) {
    return UsageError("--skip-fast-firth belongs to --firth --approx", "Leave it out.");
  }
  if (binary.correction != BinaryCorrection::kFirthApproximate) {
    for (const auto& [flag, given] :
         {std::pair("--use-null-firth", !settings.scan.use_null_firth.empty()),
          {"--write-null-firth", settings.scan.write_null_firth}}) {
      if (!given) continue;
      return UsageError(std::string(flag) +
                            " belongs to --firth --approx: nothing else has a null "
                            "Firth model",
                        "Give --firth --approx with it, or leave it out.");
    }
  }
  if (!(binary.p_threshold > 0 && binary.p_threshold < 1)) {
    return UsageError("--pThresh must lie between 0 and 1", "0.05 is the default.");
  }
  if (!(binary.null_firth.halving_scale < 1)) {
    return UsageError("null_firth_step_halving_scale must be below 1", "0.5 is the default.");
  }
  if (binary.firth.max_iterations < 4) {
    return UsageError("firth_maximum_iterations must be at least 4", "250 is the default.");
  }
  if (binary.firth.carrier_dosage > 2) {
    return UsageError("firth_sparse_carrier_dosage_threshold must be at most 2",
                      "1e-4 is the default.");
  }
  return {};
}

}  // namespace tallele

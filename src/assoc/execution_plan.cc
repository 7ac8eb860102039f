#include "assoc/execution_plan.h"

#include <cstring>
#include <span>

#include "assoc/batch_inputs.h"
#include "assoc/scan_plan.h"
#include "base/format_number.h"
#include "base/hashing.h"
#include "genotype/bed/plink_tables.h"
#include "results/input_files.h"

namespace tallele {
namespace {

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text;
}

const char* YesNo(bool truth) { return truth ? "true" : "false"; }

const char* ModelName(GeneticModel model) {
  switch (model) {
    case GeneticModel::kAdditive:
      return "additive";
    case GeneticModel::kDominant:
      return "dominant";
    case GeneticModel::kRecessive:
      return "recessive";
  }
  return "additive";
}

const char* SexName(Sex sex) {
  return sex == Sex::kMale ? "male" : sex == Sex::kFemale ? "female" : "everybody";
}

// Collects fields with printable values.
class FieldList {
 public:
  void Add(std::string name, const std::string& value) {
    fields_.push_back({std::move(name), PrintableText(value)});
  }
  void Add(std::string name, size_t value) { Add(std::move(name), std::to_string(value)); }
  std::vector<PlanField> Take() { return std::move(fields_); }

 private:
  std::vector<PlanField> fields_;
};

const char* CorrectionName(BinaryCorrection correction) {
  switch (correction) {
    case BinaryCorrection::kNone:
      return "score_only";
    case BinaryCorrection::kFirthApproximate:
      return "firth_approximate";
    case BinaryCorrection::kFirthExact:
      return "firth_exact";
    case BinaryCorrection::kSaddlepoint:
      return "spa";
  }
  return "score_only";
}

void AddNullFirth(const NullFirthLimits& limits, FieldList& fields) {
  fields.Add("null_firth_maximum_iterations", std::to_string(limits.max_iterations));
  fields.Add("null_firth_maximum_step_size", FormatExactly(limits.max_step));
  fields.Add("null_firth_gradient_tolerance", FormatExactly(limits.gradient_tolerance));
  fields.Add("null_firth_line_search_maximum_attempts", std::to_string(limits.max_halvings));
  fields.Add("null_firth_step_halving_scale", FormatExactly(limits.halving_scale));
  fields.Add("null_firth_fallback_iteration_multiplier",
             std::to_string(limits.retry_iteration_factor));
  fields.Add("null_firth_fallback_step_divisor", FormatExactly(limits.retry_step_divisor));
  fields.Add("null_firth_retries", YesNo(limits.retries));
}

void AddFirth(const FirthLimits& limits, FieldList& fields) {
  fields.Add("firth_maximum_iterations", std::to_string(limits.max_iterations));
  fields.Add("firth_pseudo_maximum_iterations", std::to_string(limits.max_pseudo_iterations));
  fields.Add("firth_pseudo_inner_maximum_iterations", std::to_string(limits.max_inner_iterations));
  fields.Add("firth_gradient_tolerance", FormatExactly(limits.gradient_tolerance));
  fields.Add("firth_maximum_step_size", FormatExactly(limits.max_step));
  fields.Add("firth_line_search_maximum_attempts", std::to_string(limits.max_halvings));
  fields.Add("firth_sparse_carrier_dosage_threshold", FormatExactly(limits.carrier_dosage));
}

void AddBinary(const ScanRequest& request, FieldList& fields) {
  const BinaryOptions& binary = request.binary;
  fields.Add("cc12", YesNo(request.cohort.binary_coding == BinaryCoding::kOneTwo));
  fields.Add("correction", CorrectionName(binary.correction));
  fields.Add("p_threshold", FormatExactly(binary.p_threshold));
  fields.Add("firth_se", YesNo(binary.firth_se));
  fields.Add("skip_fast_firth", YesNo(!binary.carriers_only_firth));
  fields.Add("min_case_count", FormatExactly(binary.min_cases));
  fields.Add("binary_null_maximum_iterations", std::to_string(binary.null_iterations));
  fields.Add("null_logistic_nonconvergence_policy",
             binary.null_failure == NullFailurePolicy::kFail ? "fail" : "warn");
  AddNullFirth(binary.null_firth, fields);
  AddFirth(binary.firth, fields);
}

// Hashes texts and numbers so that no two lists give the same bytes.
class ContentDigest {
 public:
  void Text(std::string_view text) {
    Number(text.size());
    Bytes(text);
  }
  void Number(uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    Bytes({bytes, sizeof bytes});
  }
  template <typename T>
  void Values(std::span<const T> values) {
    Number(values.size());
    Bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  std::string Hex() {
    hash_.Update(pending_);
    return hash_.HexDigest();
  }

 private:
  // Collected: the hash has a cost for each call.
  void Bytes(std::string_view bytes) {
    pending_.append(bytes);
    if (pending_.size() < kCollected) return;
    hash_.Update(pending_);
    pending_.clear();
  }

  static constexpr size_t kCollected = size_t{64} << 10;
  std::string pending_;
  Sha256 hash_;
};

std::string SamplesDigest(const std::vector<SampleIdentity>& samples) {
  ContentDigest digest;
  for (const SampleIdentity& sample : samples) {
    digest.Text(sample.fid);
    digest.Text(sample.iid);
    digest.Number(static_cast<uint64_t>(sample.sex));
  }
  return digest.Hex();
}

std::string VariantsDigest(const VariantIndex& variants) {
  ContentDigest digest;
  for (size_t v = 0; v < variants.size(); ++v) {
    const VariantRecord record = variants[v];
    digest.Text(record.chromosome);
    digest.Number(record.position);
    digest.Text(record.id);
    digest.Text(record.first_allele);
    digest.Text(record.second_allele);
    digest.Number(record.num_alleles);
  }
  return digest.Hex();
}

std::string SelectionDigest(const std::vector<bool>& selected) {
  if (selected.empty()) return "all";
  ContentDigest digest;
  std::string bytes(selected.size(), '0');
  for (size_t v = 0; v < selected.size(); ++v) bytes[v] = selected[v] ? '1' : '0';
  digest.Text(bytes);
  return digest.Hex();
}

// A missing value has one form, whatever its bits.
std::string TraitDigest(const std::vector<double>& values) {
  ContentDigest digest;
  for (const double value : values) {
    uint64_t bits = UINT64_MAX;
    if (value == value) std::memcpy(&bits, &value, sizeof bits);
    digest.Number(bits);
  }
  return digest.Hex();
}

std::string GridDigest(const std::vector<VariantRange>& grid) {
  ContentDigest digest;
  for (const VariantRange& part : grid) {
    digest.Number(part.first);
    digest.Number(part.count);
  }
  return digest.Hex();
}

void AddGenotypes(const PlannedScan& plan, FieldList& fields) {
  const GenotypeFormat& format = plan.source->format();
  fields.Add("genotypes.format", format.name + ", " + format.layout);
  fields.Add("genotypes.people", plan.source->num_samples());
  fields.Add("genotypes.people_sha256", plan.samples_digest);
  fields.Add("genotypes.variants", plan.source->variants().size());
  fields.Add("genotypes.variants_sha256", plan.variants_digest);
  // Sampled in any case: whether the file is hashed whole as well is no part of the plan.
  fields.Add("genotypes.bytes", std::to_string(plan.genotypes.identity.size));
  fields.Add("genotypes.sampled_sha256", plan.genotypes.sha256);
}

void AddInputs(const PlannedScan& plan, FieldList& fields) {
  for (const InputFile& input : plan.inputs) {
    // Predictions and start values are compared by trait, whatever list names them.
    if (input.role == "genotypes" || input.role.starts_with("prediction") ||
        input.role.starts_with("null Firth")) {
      continue;
    }
    fields.Add(input.role + ".sha256", input.sha256);
  }
}

void AddList(const std::string& role, const std::vector<std::string>& paths,
             std::vector<std::pair<std::string, std::string>>& inputs) {
  for (size_t i = 0; i < paths.size(); ++i) {
    inputs.emplace_back(role + (paths.size() > 1 ? " " + std::to_string(i + 1) : ""), paths[i]);
  }
}

void AddCompanions(const std::string& bed,
                   std::vector<std::pair<std::string, std::string>>& inputs) {
  const std::string prefix = bed.ends_with(".bed") ? bed.substr(0, bed.size() - 4) : bed;
  inputs.emplace_back("genotypes", prefix + ".bed");
  for (const auto& [role, extension] :
       {std::pair("variant table", ".bim"), {"people table", ".fam"}}) {
    const auto path = bed::FindCompanion(prefix, extension);
    if (path.ok()) inputs.emplace_back(role, *path);
  }
}

}  // namespace

std::vector<PlanField> PlanOptions(const ScanRequest& request) {
  const CohortRequest& cohort = request.cohort;
  FieldList fields;
  fields.Add("numerical_version", kNumericalVersion);
  fields.Add("trait_type", cohort.family == TraitFamily::kBinary ? "binary" : "quantitative");
  fields.Add("sample_mode",
             cohort.sample_mode == SampleMode::kCompleteCase ? "complete-case" : "per-phenotype");
  fields.Add("covar_columns", Joined(cohort.covar_columns));
  fields.Add("covar_exclude_columns", Joined(cohort.covar_exclude));
  fields.Add("categorical_covariates", Joined(cohort.categorical_covariates));
  fields.Add("maximum_categorical_levels", std::to_string(cohort.max_categorical_levels));
  fields.Add("sex_specific", SexName(cohort.sex_filter));
  fields.Add("missing_codes", Joined(cohort.missing_codes));
  fields.Add("apply_rint", YesNo(cohort.apply_rint));
  fields.Add("force_qt", YesNo(cohort.force_qt));
  fields.Add("ref_first", YesNo(request.ref_first));
  fields.Add("chromosomes", Joined(request.chromosomes));
  fields.Add("range", request.range);
  fields.Add("num_autosomes", std::to_string(request.num_autosomes));
  fields.Add("par_region", request.par_region);
  fields.Add("min_mac", FormatExactly(request.min_mac));
  fields.Add("min_info", FormatExactly(request.min_info));
  fields.Add("min_homs", FormatExactly(request.min_homs));
  fields.Add("test", ModelName(request.model));
  fields.Add("ignore_pred", YesNo(request.ignore_pred));
  fields.Add("statistic_dtype", request.float32_statistics ? "float32" : "float64");
  fields.Add("variants_per_part", request.safety.variants_per_part);
  if (cohort.family == TraitFamily::kBinary) AddBinary(request, fields);
  return fields.Take();
}

std::string TraitColumns(const ScanRequest& request) {
  const CohortRequest& cohort = request.cohort;
  const std::string named = cohort.pheno_columns.empty() ? "all" : Joined(cohort.pheno_columns);
  return PrintableText(
      cohort.pheno_exclude.empty() ? named : named + " without " + Joined(cohort.pheno_exclude));
}

std::string TextLayout(const ScanRequest& request) {
  if (request.format == OutputFormat::kParquet) return {};
  std::string layout = request.no_split ? "wide" : "split";
  if (!request.htp.empty()) layout = "htp " + request.htp;
  if (request.exact_p) layout += ", exact p";
  if (request.af_cc) layout += ", by cases and controls";
  return PrintableText(layout);
}

std::vector<std::pair<std::string, std::string>> NamedInputs(const ScanRequest& request) {
  std::vector<std::pair<std::string, std::string>> inputs;
  const auto add = [&](const char* role, const std::string& path) {
    if (!path.empty()) inputs.emplace_back(role, path);
  };
  if (request.bed.empty()) {
    add("genotypes", request.bgen);
  } else {
    AddCompanions(request.bed, inputs);
  }
  add("sample file", request.sample);
  add("phenotypes", request.cohort.pheno_file);
  add("covariates", request.cohort.covar_file);
  AddList("keep list", request.cohort.keep_files, inputs);
  AddList("remove list", request.cohort.remove_files, inputs);
  AddList("extract list", request.extract_files, inputs);
  AddList("exclude list", request.exclude_files, inputs);
  add("prediction list", request.pred);
  add("null Firth list", request.use_null_firth);
  return inputs;
}

Result<std::vector<InputFile>> DescribeInputs(const ScanRequest& request) {
  std::vector<InputFile> described;
  for (const auto& [role, path] : NamedInputs(request)) {
    const bool sampled = role == "genotypes" && !request.safety.verify_inputs;
    TALLELE_ASSIGN(
        InputFile input,
        DescribeInput(role, path, sampled ? DigestPolicy::kSampled : DigestPolicy::kWhole,
                      InputEnv(request)));
    described.push_back(std::move(input));
  }
  return described;
}

namespace {

std::vector<PlanField> TraitPlan(const PlannedScan& plan, size_t trait) {
  const TraitColumn& column = plan.cohort.traits[trait];
  FieldList fields;
  for (PlanField& field : PlanOptions(plan.request)) fields.Add(field.name, field.value);
  fields.Add("trait", column.name);
  fields.Add("trait_number", trait + 1);
  AddGenotypes(plan, fields);
  AddInputs(plan, fields);
  fields.Add("covariates.columns", Joined(plan.cohort.covariate_names));
  fields.Add("covariates.rank", plan.basis.rank());
  ContentDigest people;
  people.Values(std::span<const uint32_t>(plan.cohort.base));
  fields.Add("people.base", plan.cohort.base.size());
  fields.Add("people.base_sha256", people.Hex());
  fields.Add("trait.people", column.num_present);
  fields.Add("trait.values_sha256", TraitDigest(column.values));
  if (plan.loco) fields.Add("predictions.sha256", plan.loco->fingerprint(trait));
  if (plan.stored_null_firth) {
    fields.Add("null_firth_start.sha256", plan.stored_null_firth->fingerprint(trait));
  }
  fields.Add("variants.selected", plan.num_selected());
  fields.Add("variants.selected_sha256", SelectionDigest(plan.selection.selected));
  const auto grid = PartGrid(plan.source->variants(), plan.request.safety.variants_per_part);
  fields.Add("parts.count", grid.size());
  fields.Add("parts.grid_sha256", GridDigest(grid));
  return fields.Take();
}

// How the text is laid out that a run keeps beside its parts, since they do not hold all of it;
// empty where they do. A line of --no-split stands for all traits and their plans.
std::string KeptTextLayout(const PlannedScan& plan) {
  const ScanRequest& request = plan.request;
  const bool parts_suffice =
      request.htp.empty() && !request.no_split && !request.float32_statistics;
  if (!plan.output.regenie_text || parts_suffice) return {};
  if (!request.no_split) return TextLayout(request);
  ContentDigest digest;
  for (const std::vector<PlanField>& fields : plan.trait_plans) digest.Text(PlanHash(fields));
  return TextLayout(request) + " of plans " + digest.Hex();
}

}  // namespace

void PlanTraits(PlannedScan& plan) {
  if (!plan.output.parquet) return;
  plan.samples_digest = SamplesDigest(plan.samples);
  plan.variants_digest = VariantsDigest(plan.source->variants());
  for (const size_t t : plan.traits) plan.trait_plans.push_back(TraitPlan(plan, t));
  plan.output.kept_text = KeptTextLayout(plan);
}

}  // namespace tallele

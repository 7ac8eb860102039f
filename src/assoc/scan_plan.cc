#include "assoc/scan_plan.h"

#include <algorithm>
#include <exception>
#include <future>
#include <new>
#include <optional>

#include "assoc/batch_inputs.h"
#include "assoc/execution_plan.h"
#include "assoc/open_genotypes.h"
#include "assoc/resume.h"
#include "assoc/table_reading.h"
#include "base/machine.h"
#include "kernels/normal_tail.h"
#include "results/input_files.h"
#include "results/output_paths.h"

namespace tallele {
namespace {

constexpr size_t kBlockWidth = 96;
constexpr size_t kSmallestBlockWidth = 32;
constexpr size_t kFewDegreesOfFreedom = 10;
// Blocks of all workers together take at most this much, and at most a quarter of what is free.
constexpr uint64_t kBlockMemory = uint64_t{400} << 20;

Result<void> CheckSafety(const ScanRequest& request) {
  if (request.safety.existing != ExistingRun::kResume) return {};
  if (request.format != OutputFormat::kRegenie) return {};
  return UsageError("--resume needs the Parquet parts, and --format regenie writes none",
                    "Use --format both, or run again without --resume: text alone starts anew.");
}

Result<void> CheckRequest(const ScanRequest& request) {
  if (request.pred.empty() && !request.ignore_pred) {
    return UsageError("no predictions given",
                      "Name step 1's list with --pred, or say --ignore-pred.");
  }
  if (!(request.min_mac >= 0.5)) {
    return UsageError("--minMAC must be at least 0.5");
  }
  if (!(request.min_info >= 0 && request.min_info <= 1)) {
    return UsageError("--minINFO must be between 0 and 1");
  }
  if (!(request.min_homs >= 0)) return UsageError("--minHOMs must not be negative");
  if (request.out.empty()) return UsageError("no output prefix given", "Name one with --out.");
  return CheckSafety(request);
}

Result<void> SelectPlanVariants(PlannedScan& plan) {
  const ScanRequest& request = plan.request;
  VariantSelectionRequest wanted;
  wanted.extract_files = request.extract_files;
  wanted.exclude_files = request.exclude_files;
  wanted.chromosomes = request.chromosomes;
  wanted.num_autosomes = request.num_autosomes;
  if (!request.range.empty()) {
    TALLELE_ASSIGN(wanted.window, ParseVariantWindow(request.range, request.num_autosomes));
  }
  TALLELE_ASSIGN(plan.selection,
                 SelectVariants(wanted, plan.source->variants(), InputEnv(request)));
  return {};
}

// The model's name of REGENIE's --htp table: test, predictions, method.
void SetHtp(PlannedScan& plan) {
  const ScanRequest& request = plan.request;
  ResultSchema& schema = plan.schema;
  schema.htp_cohort = request.htp;
  schema.exact_p = request.exact_p;
  schema.htp_model = schema.test;
  if (!request.ignore_pred) schema.htp_model += "-WGR";
  if (!plan.is_binary()) {
    schema.htp_model += "-LR";
    return;
  }
  switch (request.binary.correction) {
    case BinaryCorrection::kNone:
      schema.htp_model += "-LOG";
      break;
    case BinaryCorrection::kSaddlepoint:
      schema.htp_model += "-SPA";
      break;
    case BinaryCorrection::kFirthApproximate:
    case BinaryCorrection::kFirthExact:
      schema.htp_model += "-FIRTH";
      schema.htp_odds_ratio = true;
      break;
  }
}

Result<void> SetTests(PlannedScan& plan) {
  const ScanRequest& request = plan.request;
  TestSettings& settings = plan.settings;
  settings.coding = {request.model, request.ref_first};
  settings.min_mac = request.min_mac;
  settings.min_info = request.min_info;
  settings.min_homs = request.min_homs;
  settings.has_probabilities = plan.source->format().has_probabilities;
  settings.sex_chromosome_code = request.num_autosomes + 1;
  TALLELE_ASSIGN(settings.non_par, ParseParRegion(request.par_region));

  ResultSchema& schema = plan.schema;
  schema.test = request.model == GeneticModel::kAdditive   ? "ADD"
                : request.model == GeneticModel::kDominant ? "DOM"
                                                           : "REC";
  schema.has_info = settings.has_probabilities;
  schema.ref_first = request.ref_first;
  schema.float32_statistics = request.float32_statistics;
  schema.num_autosomes = request.num_autosomes;
  schema.binary = plan.is_binary();
  schema.af_cc = request.af_cc;
  settings.count_genotypes = !request.htp.empty();
  settings.union_rows = request.no_split;
  if (plan.is_binary() && request.binary.correction != BinaryCorrection::kNone) {
    settings.correction_chisq = ChiSquareUpperQuantile(request.binary.p_threshold);
  }

  plan.output.prefix = request.out;
  plan.output.run_directory = request.run_directory;
  plan.output.parquet = request.format != OutputFormat::kRegenie;
  plan.output.regenie_text = request.format != OutputFormat::kParquet;
  plan.output.gzip = request.gzip;
  plan.output.existing_allowed = request.safety.existing != ExistingRun::kRefuse;
  plan.output.variants_per_part = request.safety.variants_per_part;
  plan.output.split = !request.no_split;
  SetHtp(plan);
  return {};
}

Result<void> OpenPredictions(PlannedScan& plan, EventSink& events) {
  if (plan.request.ignore_pred) return {};
  std::vector<std::string> names;
  for (const TraitColumn& trait : plan.cohort.traits) names.push_back(trait.name);
  LocoInputs inputs;
  inputs.env = &InputEnv(plan.request);
  if (plan.request.batch_inputs) inputs.indexes = &plan.request.batch_inputs->loco_indexes();
  TALLELE_ASSIGN(plan.loco, LocoPredictions::Open(plan.request.pred, names, plan.cohort.base_keys,
                                                  plan.request.num_autosomes, events, inputs));
  for (size_t t = 0; t < plan.cohort.traits.size(); ++t) {
    TraitColumn& trait = plan.cohort.traits[t];
    if (trait.problem.empty() && !plan.loco->HasTrait(t)) {
      trait.problem = "no entry in " + plan.request.pred;
    }
  }
  return {};
}

// Needs the covariates as they were read.
Result<void> OpenNullFirth(PlannedScan& plan) {
  const ScanRequest& request = plan.request;
  if (request.use_null_firth.empty() && !request.write_null_firth) return {};
  plan.regenie_basis = RegenieBasis(plan.basis, plan.cohort.covariates);
  if (request.use_null_firth.empty()) return {};
  std::vector<std::string> names;
  for (const TraitColumn& trait : plan.cohort.traits) names.push_back(trait.name);
  TALLELE_ASSIGN(plan.stored_null_firth,
                 StoredNullFirth::Open(request.use_null_firth, names, plan.basis.rank(),
                                       request.num_autosomes, InputEnv(request)));
  return {};
}

// Base people whom at least one trait without a problem has a value for.
std::vector<bool> UsedPeople(const Cohort& cohort) {
  std::vector<bool> used(cohort.base.size(), false);
  for (const TraitColumn& trait : cohort.traits) {
    if (!trait.problem.empty()) continue;
    for (size_t b = 0; b < used.size(); ++b) {
      if (trait.values[b] == trait.values[b]) used[b] = true;
    }
  }
  return used;
}

// Fits what does not depend on predictions, and drops the traits that end here.
Result<void> ChooseTraits(PlannedScan& plan, EventSink& events) {
  plan.axis = ChooseScanAxis(plan.source->num_samples(), plan.cohort.base, UsedPeople(plan.cohort));
  plan.fitter = std::make_unique<NullModelFitter>(plan.FitterInputs());
  for (size_t t = 0; t < plan.cohort.traits.size(); ++t) {
    const TraitColumn& trait = plan.cohort.traits[t];
    std::string problem = trait.problem;
    if (problem.empty() && plan.is_binary()) {
      TALLELE_ASSIGN(problem, plan.fitter->BinaryProblem(t));
    } else if (problem.empty()) {
      problem = plan.fitter->PhenotypeResidual(t).problem;
    }
    if (problem.empty()) {
      const SampleGroup& group = *plan.fitter->GroupOfTrait(t);
      if (group.num_people - group.rank < kFewDegreesOfFreedom) {
        events.Message(Severity::kWarning,
                       trait.name + ": only " + std::to_string(group.num_people - group.rank) +
                           " degrees of freedom are left beside the covariates");
      }
      plan.traits.push_back(t);
    } else {
      plan.trait_problems.push_back({trait.name, problem});
    }
  }
  plan.fitter->ReleaseColumns();
  return {};
}

Error NoTraitLeft(const PlannedScan& plan) {
  std::string reasons;
  for (const TraitProblem& problem : plan.trait_problems) {
    if (!reasons.empty()) reasons += "; ";
    reasons += problem.trait + ": " + problem.reason;
  }
  return InputError("no trait can be analysed (" + reasons + ")", plan.request.cohort.pheno_file);
}

// Stored rows keep two bytes for each person, and the reader one more in front of them.
void ChooseBlockWidth(PlannedScan& plan) {
  const size_t row_bytes = 3 * std::max<size_t>(plan.axis.num_block_people(), 1) + 256;
  const uint64_t available = AvailableMemory();  // 0: unknown
  const uint64_t memory = available > 0 ? std::min(kBlockMemory, available / 4) : kBlockMemory;
  const size_t most =
      std::max(kSmallestBlockWidth,
               static_cast<size_t>(memory) / (row_bytes * static_cast<size_t>(plan.threads)));
  const size_t wanted = plan.request.block_size > 0 ? plan.request.block_size : kBlockWidth;
  plan.block_width = std::min(wanted, most);
  plan.block_width_limited = plan.request.block_size > plan.block_width;
}

// Nothing where a file cannot be examined: reading it will say why.
std::vector<std::optional<FileIdentity>> InputIdentities(const ScanRequest& request) {
  std::vector<std::optional<FileIdentity>> identities;
  for (const auto& [role, path] : NamedInputs(request)) {
    const auto identity = InputEnv(request).Identity(path);
    identities.push_back(identity.ok() ? std::optional(*identity) : std::nullopt);
  }
  return identities;
}

// `before` are the identities before anything was read: what is read must still be this.
Result<void> NoteInputs(PlannedScan& plan, std::span<const std::optional<FileIdentity>> before) {
  TALLELE_ASSIGN(plan.inputs, DescribeInputs(plan.request));
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (before[i] == plan.inputs[i].identity) continue;
    return InputError("the file changed while the run read it", plan.inputs[i].path,
                      "Run again when nothing writes to it.");
  }
  if (plan.inputs.empty() || plan.inputs.front().role != "genotypes") return {};
  plan.genotypes = plan.inputs.front();
  if (plan.request.safety.verify_inputs) {
    TALLELE_ASSIGN(plan.genotypes, DescribeInput("genotypes", plan.genotypes.path,
                                                 DigestPolicy::kSampled, InputEnv(plan.request)));
  }
  return {};
}

// A file of one trait whose content `fingerprint` stands for.
Result<void> NoteTraitFile(PlannedScan& plan, std::string role, const std::string& path,
                           std::string fingerprint) {
  InputFile input;
  input.role = std::move(role);
  input.path = AbsolutePath(path);
  TALLELE_ASSIGN(input.identity, InputEnv(plan.request).Identity(path));
  input.sha256 = std::move(fingerprint);
  input.policy = "whole";
  plan.inputs.push_back(std::move(input));
  return {};
}

Result<void> NoteTraitFiles(PlannedScan& plan) {
  for (const size_t t : plan.traits) {
    const std::string name = PrintableText(plan.cohort.traits[t].name);
    if (plan.loco) {
      TALLELE_TRY(NoteTraitFile(plan, kPredictionsRole + name, plan.loco->path(t),
                                plan.loco->fingerprint(t)));
    }
    if (plan.stored_null_firth && !plan.stored_null_firth->path(t).empty()) {
      TALLELE_TRY(NoteTraitFile(plan, kNullFirthRole + name, plan.stored_null_firth->path(t),
                                plan.stored_null_firth->fingerprint(t)));
    }
  }
  return {};
}

Result<std::unique_ptr<ScanPlan>> MakePlan(const ScanRequest& request, EventSink& events) {
  auto plan = std::make_unique<PlannedScan>();
  plan->request = request;
  TALLELE_TRY(CheckRequest(request));
  TALLELE_ASSIGN(plan->target, ChooseCpuTarget());
  plan->threads = request.threads > 0 ? request.threads : AvailableProcessors();
  const auto identities = InputIdentities(request);
  TableReading tables(plan->request, plan->threads);
  TALLELE_TRY(NoteInputs(*plan, identities));
  TALLELE_ASSIGN(plan->source, OpenGenotypes(request, events));
  TALLELE_ASSIGN(plan->samples, tables.Samples(*plan->source));
  TALLELE_TRY(SetTests(*plan));
  TALLELE_TRY(SelectPlanVariants(*plan));
  TALLELE_ASSIGN(plan->cohort, tables.LoadedCohort(plan->samples, events));
  plan->num_covariates_asked = plan->cohort.covariate_names.size();
  // The basis needs the covariates alone, and the predictions the people.
  std::future<Result<CovariateBasis>> basis =
      std::async(plan->threads > 1 ? std::launch::async : std::launch::deferred, [&] {
        return BuildCovariateBasis(plan->cohort.covariates, plan->cohort.covariate_names,
                                   plan->cohort.base.size());
      });
  TALLELE_TRY(OpenPredictions(*plan, events));
  TALLELE_ASSIGN(plan->basis, basis.get());
  TALLELE_TRY(OpenNullFirth(*plan));
  plan->cohort.covariates.clear();
  plan->cohort.covariates.shrink_to_fit();
  TALLELE_TRY(ChooseTraits(*plan, events));
  if (plan->traits.empty()) return NoTraitLeft(*plan);
  ChooseBlockWidth(*plan);
  std::vector<std::string> names;
  for (const size_t t : plan->traits) names.push_back(plan->cohort.traits[t].name);
  TALLELE_TRY(CheckOutputs(plan->output, names));
  TALLELE_TRY(NoteTraitFiles(*plan));
  TALLELE_TRY(CheckInputsUnchanged(plan->inputs, InputEnv(request)));
  PlanTraits(*plan);
  TALLELE_TRY(CheckResume(*plan, events));
  for (const std::string& path : FilesToReplace(plan->output, names)) {
    events.Message(Severity::kWarning, path + " exists and is replaced when the run has finished");
  }
  return std::unique_ptr<ScanPlan>(std::move(plan));
}

}  // namespace

NullModelInputs PlannedScan::FitterInputs() const {
  NullModelInputs inputs;
  inputs.axis = &axis;
  inputs.basis = &basis;
  inputs.cohort = &cohort;
  inputs.loco = loco.get();
  for (const Sex sex : cohort.base_sex) inputs.is_male.push_back(sex == Sex::kMale);
  inputs.target = target;
  if (is_binary()) inputs.binary = &request.binary;
  if (stored_null_firth) inputs.stored_null_firth = &*stored_null_firth;
  inputs.regenie_basis = &regenie_basis;
  return inputs;
}

size_t PlannedScan::CountSelected(VariantRange range) const {
  if (selection.selected.empty()) return range.count;
  const auto first = selection.selected.begin() + static_cast<std::ptrdiff_t>(range.first);
  return static_cast<size_t>(
      std::count(first, first + static_cast<std::ptrdiff_t>(range.count), true));
}

Result<std::unique_ptr<ScanPlan>> PlanScan(const ScanRequest& request, EventSink& events) {
  try {
    return MakePlan(request, events);
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kIo,
                 "not enough memory to plan the scan",
                 "",
                 "",
                 "",
                 "Run on a machine with more memory, or with fewer traits at a time."};
  } catch (const std::exception& exception) {
    return InternalError(std::string("planning stopped: ") + exception.what());
  }
}

}  // namespace tallele

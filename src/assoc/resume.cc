#include "assoc/resume.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "assoc/execution_plan.h"
#include "base/atomic_file.h"
#include "results/input_files.h"
#include "results/output_paths.h"
#include "results/read_part.h"
#include "results/run_folder.h"

namespace tallele {
namespace {

constexpr char kOtherRun[] =
    "Use the inputs and options of that run, or replace it with --overwrite.";

// Folder, manifest and plan of one trait of the run.
struct TraitPlace {
  std::string name;    // of the folder
  std::string folder;  // full path
  std::string manifest_path() const { return folder + "/" + kManifestName; }
};

TraitPlace PlaceOf(const PlannedScan& plan, size_t i) {
  const size_t t = plan.traits[i];
  TraitPlace place;
  place.name = TraitDirectoryName(t + 1, plan.cohort.traits[t].name);
  place.folder = RunDirectory(plan.output) + "/" + place.name;
  return place;
}

bool HasFile(const RunFolderContent& content, const std::string& file) {
  return std::binary_search(content.files.begin(), content.files.end(), file);
}

Result<void> ComparePlan(const RunManifest& recorded, const std::vector<PlanField>& requested,
                         const std::string& path) {
  const auto difference = FirstDifference(recorded.plan, requested);
  if (!difference) return {};
  Error error =
      UsageError("this run differs from the one to resume in " + difference->field, kOtherRun);
  error.where = path;
  error.found = "'" + difference->requested + "' now";
  error.expected = "'" + difference->recorded + "' as recorded";
  return error;
}

// With --verify-inputs a whole digest is compared too, where the recorded one is whole.
Result<void> CompareWholeInputs(const RunManifest& recorded, const PlannedScan& plan,
                                const std::string& path) {
  if (!plan.request.safety.verify_inputs) return {};
  const InputFile& now = plan.inputs.front();
  for (const InputFile& input : recorded.inputs) {
    if (input.role != now.role || input.policy != now.policy || input.sha256 == now.sha256)
      continue;
    Error error =
        UsageError("the genotype file differs from the one of the run to resume", kOtherRun);
    error.where = path;
    error.found = now.sha256;
    error.expected = input.sha256;
    return error;
  }
  return {};
}

Result<void> CheckFoldersBelong(const PlannedScan& plan, const RunFolderContent& content) {
  std::set<std::string> known;
  for (size_t i = 0; i < plan.traits.size(); ++i) known.insert(PlaceOf(plan, i).name);
  for (const std::string& trait : content.traits) {
    if (known.contains(trait)) continue;
    Error error = UsageError("the run folder holds a trait that this run does not have", kOtherRun);
    error.where = RunDirectory(plan.output);
    error.found = trait;
    return error;
  }
  if (content.foreign.empty()) return {};
  Error error = UsageError("the run folder holds something that tallele did not write",
                           "Move it away: readers of the dataset would take it for results.");
  error.where = RunDirectory(plan.output) + "/" + content.foreign.front();
  return error;
}

// A part file must be one of the grid: any other would be read as part of the dataset.
Result<void> CheckPartsBelong(const PlannedScan& plan, const RunFolderContent& content) {
  std::set<std::string> known;
  for (const VariantRange& part :
       PartGrid(plan.source->variants(), plan.output.variants_per_part)) {
    known.insert(PartFileName(part));
  }
  for (const std::string& file : content.files) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (!name.ends_with(".parquet") || known.contains(name)) continue;
    Error error = UsageError("the run folder holds a part that belongs to another run", kOtherRun);
    error.where = RunDirectory(plan.output) + "/" + file;
    return error;
  }
  return {};
}

// What the folder says, compared with the plan. Reads only.
Result<RunFolderContent> Compare(const PlannedScan& plan) {
  TALLELE_ASSIGN(RunFolderContent content, ListRunFolder(RunDirectory(plan.output)));
  if (plan.request.safety.existing != ExistingRun::kResume) return content;
  TALLELE_TRY(CheckFoldersBelong(plan, content));
  for (size_t i = 0; i < plan.traits.size(); ++i) {
    const TraitPlace place = PlaceOf(plan, i);
    if (!HasFile(content, place.name + "/" + kManifestName)) continue;
    TALLELE_ASSIGN(const RunManifest recorded, ReadManifest(place.manifest_path(), plan.env()));
    TALLELE_TRY(ComparePlan(recorded, plan.trait_plans[i], place.manifest_path()));
    TALLELE_TRY(CompareWholeInputs(recorded, plan, place.manifest_path()));
  }
  TALLELE_TRY(CheckPartsBelong(plan, content));
  return content;
}

Error Occupied(const PlannedScan& plan) {
  return UsageError("the run directory " + RunDirectory(plan.output) +
                        " was taken by another run in the meantime",
                    "Choose another --out.");
}

}  // namespace

Result<void> CheckResume(const PlannedScan& plan, EventSink& events) {
  if (!plan.output.parquet) return {};
  TALLELE_ASSIGN(const RunFolderContent content, Compare(plan));
  if (plan.request.safety.existing == ExistingRun::kOverwrite && !content.foreign.empty()) {
    Error error = UsageError(
        "something in the run folder was not written by tallele, so "
        "--overwrite removes nothing",
        "Move it away, or choose another --out.");
    error.where = RunDirectory(plan.output) + "/" + content.foreign.front();
    return error;
  }
  if (plan.request.safety.existing == ExistingRun::kResume && !content.HasResults()) {
    events.Message(Severity::kInfo, "Nothing to resume yet: this is a new run");
  }
  return {};
}

std::string RunState::plan_hash(size_t i) const { return traits_[i].manifest.plan_hash(); }

Result<std::unique_ptr<RunState>> RunState::Begin(const PlannedScan& plan, EventSink& events) {
  std::unique_ptr<RunState> state(new RunState(plan));
  state->grid_ = PartGrid(plan.source->variants(), plan.output.variants_per_part);
  state->traits_.resize(plan.traits.size());
  if (!plan.output.parquet) {
    state->ChooseParts();
    return state;
  }
  const std::string folder = RunDirectory(plan.output);
  TALLELE_TRY(plan.env().CreateFolders(folder));
  TALLELE_ASSIGN(state->lock_, RunLock::Take(folder));
  TALLELE_ASSIGN(RunFolderContent content, Compare(plan));
  if (plan.request.safety.existing == ExistingRun::kOverwrite) {
    TALLELE_TRY(RemoveRun(folder, plan.env()));
  } else if (plan.request.safety.existing == ExistingRun::kRefuse && content.HasResults()) {
    return Occupied(plan);
  } else {
    TALLELE_TRY(RemoveTemporaries(folder, content, plan.env()));
  }
  TALLELE_TRY(state->LoadTraits(events));
  TALLELE_TRY(state->RemoveUnrecorded(events));
  state->ChooseParts();
  if (!plan.request.safety.effective_config.empty()) {
    TALLELE_TRY(WriteRunFile(folder, kEffectiveConfigName, plan.request.safety.effective_config,
                             plan.env()));
  }
  for (Trait& trait : state->traits_) TALLELE_TRY(state->StartTrait(trait));
  return state;
}

Result<void> RunState::LoadTraits(EventSink& events) {
  TALLELE_ASSIGN(const RunFolderContent content, ListRunFolder(RunDirectory(plan_.output)));
  for (size_t i = 0; i < traits_.size(); ++i) {
    Trait& trait = traits_[i];
    const TraitPlace place = PlaceOf(plan_, i);
    trait.folder = place.folder;
    if (HasFile(content, place.name + "/" + kManifestName)) {
      TALLELE_ASSIGN(trait.manifest, ReadManifest(place.manifest_path(), plan_.env()));
      ++trait.manifest.attempts;
      resumed_ = true;
      TALLELE_TRY(CheckParts(trait, events));
    } else {
      trait.manifest.trait = PrintableText(plan_.cohort.traits[plan_.traits[i]].name);
      trait.manifest.plan = plan_.trait_plans[i];
      trait.manifest.started = UtcNow();
    }
    trait.manifest.grid = grid_;
  }
  if (!plan_.output.kept_text.empty() && !plan_.output.split) ForgetPartsThatATraitLacks();
  for (Trait& trait : traits_) trait.restored = trait.manifest.parts;
  return {};
}

Result<void> RunState::CheckParts(Trait& trait, EventSink& events) {
  const std::string folder = trait.folder + "/parts";
  const std::string name =
      plan_.cohort.traits[plan_.traits[static_cast<size_t>(&trait - traits_.data())]].name;
  std::vector<VariantRange> damaged;
  for (const CommittedPart& part : trait.manifest.parts) {
    const auto checked = CheckPart(folder, part, name, trait.manifest.plan_hash(), plan_.env());
    if (checked.ok()) continue;
    events.Message(Severity::kWarning, "a part is computed again: " + checked.error().Message());
    damaged.push_back(part.range);
  }
  for (const VariantRange range : damaged) trait.manifest.Forget(range);
  const bool has_own_text = plan_.output.split || &trait == &traits_.front();
  if (!plan_.output.kept_text.empty() && has_own_text) ForgetPartsWithoutText(trait, events);
  return {};
}

// Parts whose lines were kept in another layout, or not at all, are computed again: they do not
// hold what the text of this run says.
void RunState::ForgetPartsWithoutText(Trait& trait, EventSink& events) {
  const std::string folder = trait.folder + "/" + kTextFolderName;
  std::vector<VariantRange> without;
  std::string reason = "their text was not kept in this layout";
  for (const CommittedPart& part : trait.manifest.parts) {
    if (part.text && part.text->layout == PrintableText(plan_.output.kept_text)) {
      const auto lines = ReadKeptText(folder, *part.text, plan_.env());
      if (lines.ok()) continue;
      reason = lines.error().Message();
    }
    without.push_back(part.range);
  }
  if (without.empty()) return;
  events.Message(Severity::kWarning, trait.manifest.trait + ": " + std::to_string(without.size()) +
                                         " parts are computed again: " + reason);
  for (const VariantRange range : without) trait.manifest.Forget(range);
}

// A line of --no-split is made of all traits at once.
void RunState::ForgetPartsThatATraitLacks() {
  for (const VariantRange& part : grid_) {
    const bool lacks = std::any_of(traits_.begin(), traits_.end(), [&](const Trait& trait) {
      return trait.manifest.FindPart(part) == nullptr;
    });
    if (!lacks) continue;
    for (Trait& trait : traits_) trait.manifest.Forget(part);
  }
}

std::string RunState::text_folder(size_t i) const {
  return traits_[plan_.output.split ? i : 0].folder + "/" + kTextFolderName;
}

// Parts and kept text that a run published and could not record before it was killed. They would be
// replaced one by one; until then a reader could not tell such parts from those that count.
Result<void> RunState::RemoveUnrecorded(EventSink& events) {
  TALLELE_ASSIGN(const RunFolderContent content, ListRunFolder(RunDirectory(plan_.output)));
  std::set<std::string> recorded;
  for (const Trait& trait : traits_) {
    const std::string name = trait.folder.substr(trait.folder.rfind('/') + 1);
    for (const CommittedPart& part : trait.manifest.parts) {
      recorded.insert(name + "/parts/" + part.file);
      if (part.text) recorded.insert(name + "/" + kTextFolderName + "/" + part.text->file);
    }
  }
  for (const std::string& file : content.files) {
    const bool is_text = file.find(std::string("/") + kTextFolderName + "/") != std::string::npos;
    if ((!file.ends_with(".parquet") && !is_text) || recorded.contains(file)) continue;
    events.Message(Severity::kDetail, "removed " + file + ", which was published but not recorded");
    TALLELE_TRY(plan_.env().Remove(RunDirectory(plan_.output) + "/" + file));
  }
  return {};
}

Result<void> RunState::StartTrait(Trait& trait) {
  RunManifest& manifest = trait.manifest;
  manifest.inputs = plan_.inputs;
  manifest.status = RunStatus::kRunning;
  manifest.signal = 0;
  manifest.error.clear();
  manifest.outputs.clear();
  manifest.command = plan_.request.safety.command;
  manifest.version = plan_.request.safety.version;
  manifest.instruction_set = std::string(CpuTargetName(plan_.target));
  manifest.threads = plan_.threads;
  manifest.trait_columns = TraitColumns(plan_.request);
  manifest.text_layout = TextLayout(plan_.request);
  manifest.traits = traits_.size();
  manifest.traits_left_out = plan_.trait_problems.size();
  TALLELE_TRY(plan_.env().CreateFolders(trait.folder + "/parts"));
  return Write(trait);
}

void RunState::ChooseParts() {
  for (const VariantRange& part : grid_) {
    std::vector<size_t> lacking;
    for (size_t i = 0; i < traits_.size(); ++i) {
      if (traits_[i].manifest.FindPart(part) == nullptr) lacking.push_back(plan_.traits[i]);
    }
    if (lacking.empty()) continue;
    to_compute_.push_back(part);
    lacking_.push_back(std::move(lacking));
  }
}

const std::vector<size_t>& RunState::TraitsWithout(VariantRange part) const {
  const auto at =
      std::lower_bound(to_compute_.begin(), to_compute_.end(), part.first,
                       [](const VariantRange& p, size_t first) { return p.first < first; });
  return lacking_[static_cast<size_t>(at - to_compute_.begin())];
}

void RunState::AddProblem(size_t i, const std::string& reason) {
  std::vector<std::string>& problems = traits_[i].manifest.problems;
  const std::string text = PrintableText(reason);
  if (std::find(problems.begin(), problems.end(), text) == problems.end()) {
    problems.push_back(text);
  }
}

Result<void> RunState::AddOutput(size_t i, const std::string& path) {
  InputFile output;
  output.role = "output";
  output.path = AbsolutePath(path);
  output.policy = "identity";
  TALLELE_ASSIGN(output.identity, plan_.env().Identity(path));
  traits_[i].manifest.outputs.push_back(std::move(output));
  return {};
}

Result<void> RunState::CheckBeforePublishing() const {
  TALLELE_TRY(plan_.source->CheckUnchanged());
  return lock_ ? lock_->Confirm() : Result<void>();
}

Result<void> RunState::Commit(size_t i, CommittedPart part) {
  Trait& trait = traits_[i];
  trait.manifest.Record(std::move(part));
  return Write(trait);
}

Result<void> RunState::Write(Trait& trait) {
  trait.manifest.updated = UtcNow();
  return WriteManifest(trait.manifest, trait.folder + "/" + kManifestName, plan_.env());
}

Result<void> RunState::WriteAll() {
  if (!lock_) return {};
  TALLELE_TRY(lock_->Confirm());
  Result<void> first;
  for (Trait& trait : traits_) {
    Result<void> written = Write(trait);
    if (first && !written) first = std::move(written);
  }
  return first;
}

Result<void> RunState::Complete() {
  for (Trait& trait : traits_) {
    if (lock_ && !trait.manifest.IsComplete()) {
      return InternalError("a run ended with parts missing: " + trait.folder);
    }
    trait.manifest.status = RunStatus::kCompleted;
  }
  return WriteAll();
}

Result<void> RunState::RemoveKeptText() {
  if (!lock_) return {};
  const std::string root = RunDirectory(plan_.output);
  TALLELE_ASSIGN(const RunFolderContent content, ListRunFolder(root));
  const std::string inside = std::string("/") + kTextFolderName;
  for (const std::string& file : content.files) {
    if (file.find(inside + "/") == std::string::npos) continue;
    TALLELE_TRY(plan_.env().Remove(root + "/" + file));
  }
  for (const std::string& folder : content.folders) {
    if (folder.ends_with(inside)) TALLELE_TRY(plan_.env().RemoveFolder(root + "/" + folder));
  }
  return {};
}

Result<void> RunState::Fail(const Error& error, int signal_number) {
  const bool interrupted = error.kind == ErrorKind::kInterrupted;
  for (Trait& trait : traits_) {
    trait.manifest.status = interrupted ? RunStatus::kInterrupted : RunStatus::kFailed;
    trait.manifest.signal = interrupted ? signal_number : 0;
    trait.manifest.error = interrupted ? "" : error.Message();
  }
  return WriteAll();
}

}  // namespace tallele

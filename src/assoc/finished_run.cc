#include "assoc/finished_run.h"

#include <algorithm>

#include "assoc/execution_plan.h"
#include "results/input_files.h"
#include "results/output_paths.h"
#include "results/run_folder.h"
#include "results/run_manifest.h"
#include "results/sample_ids.h"
#include "results/wide_text.h"

namespace tallele {
namespace {

bool SameOptions(const RunManifest& manifest, const std::vector<PlanField>& options) {
  return manifest.plan.size() > options.size() &&
         std::equal(options.begin(), options.end(), manifest.plan.begin());
}

bool Unchanged(const InputFile& file, FileEnv& env) {
  const auto now = env.Identity(file.path);
  return now.ok() && *now == file.identity;
}

// Every input that the options name is the recorded one, and none of the recorded ones changed.
bool SameInputs(const RunManifest& manifest, const ScanRequest& request, FileEnv& env) {
  const auto named = NamedInputs(request);
  const auto of_a_trait = [](const InputFile& input) {
    return input.role.starts_with(kPredictionsRole) || input.role.starts_with(kNullFirthRole);
  };
  if (named.size() + static_cast<size_t>(std::ranges::count_if(manifest.inputs, of_a_trait)) !=
      manifest.inputs.size()) {
    return false;  // one was left out
  }
  for (const auto& [role, path] : named) {
    const bool recorded = std::ranges::any_of(manifest.inputs, [&](const InputFile& input) {
      return input.role == role && input.path == AbsolutePath(path);
    });
    if (!recorded) return false;
  }
  return std::ranges::all_of(manifest.inputs,
                             [&](const InputFile& input) { return Unchanged(input, env); });
}

bool HasParts(const RunManifest& manifest, const std::string& folder, FileEnv& env) {
  return std::ranges::all_of(manifest.parts, [&](const CommittedPart& part) {
    const auto now = env.Identity(folder + "/parts/" + part.file);
    return now.ok() && now->size == part.num_bytes;
  });
}

// Texts and lists of people that the request wants are there as the run left them.
bool HasOutputs(const RunManifest& manifest, const ScanRequest& request, FileEnv& env) {
  std::vector<std::string> wanted;
  if (request.format != OutputFormat::kParquet && manifest.text_layout != TextLayout(request)) {
    return false;
  }
  if (request.format != OutputFormat::kParquet && request.no_split) {
    wanted.push_back(WideTextPath(request.out, request.gzip));
    wanted.push_back(TraitDictionaryPath(request.out));
  } else if (request.format != OutputFormat::kParquet) {
    wanted.push_back(RegenieTextPath(request.out, manifest.trait, request.gzip));
  }
  if (request.write_samples) wanted.push_back(SampleIdsPath(request.out, manifest.trait));
  return std::ranges::all_of(wanted, [&](const std::string& path) {
    return std::ranges::any_of(manifest.outputs, [&](const InputFile& output) {
      return output.path == AbsolutePath(path) && Unchanged(output, env);
    });
  });
}

}  // namespace

std::optional<FinishedRun> FindFinishedRun(const ScanRequest& request) {
  if (request.safety.existing != ExistingRun::kResume || request.safety.verify_inputs ||
      request.format == OutputFormat::kRegenie || request.write_null_firth) {
    return std::nullopt;
  }
  FileEnv& env = request.safety.env != nullptr ? *request.safety.env : PosixFileEnv();
  OutputRequest output;
  output.prefix = request.out;
  output.run_directory = request.run_directory;
  const std::string root = RunDirectory(output);
  const auto content = ListRunFolder(root);
  if (!content.ok() || content->traits.empty() || !content->foreign.empty()) return std::nullopt;
  const std::vector<PlanField> options = PlanOptions(request);
  FinishedRun run;
  size_t num_parts = 0;
  for (const std::string& name : content->traits) {
    const std::string folder = root + "/" + name;
    const auto manifest = ReadManifest(folder + "/" + kManifestName, env);
    if (!manifest.ok() || manifest->status != RunStatus::kCompleted ||
        manifest->trait_columns != TraitColumns(request) ||
        manifest->traits != content->traits.size() || manifest->traits_left_out > 0 ||
        !SameOptions(*manifest, options) || !SameInputs(*manifest, request, env) ||
        !HasParts(*manifest, folder, env) || !HasOutputs(*manifest, request, env)) {
      return std::nullopt;
    }
    FinishedRun::Trait trait{manifest->trait, folder + "/parts", 0};
    for (const CommittedPart& part : manifest->parts) trait.num_rows += part.num_rows;
    num_parts += manifest->parts.size();
    for (const std::string& reason : manifest->problems) {
      run.problems.push_back({manifest->trait, reason});
    }
    run.traits.push_back(std::move(trait));
  }
  const auto is_part = [](const std::string& file) { return file.ends_with(".parquet"); };
  const auto present = std::ranges::count_if(content->files, is_part);
  if (static_cast<size_t>(present) != num_parts) return std::nullopt;  // an unrecorded part
  return run;
}

}  // namespace tallele

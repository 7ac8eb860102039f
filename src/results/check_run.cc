#include "results/check_run.h"

#include <filesystem>
#include <optional>
#include <set>

#include "results/output_paths.h"
#include "results/read_part.h"
#include "results/run_folder.h"

namespace tallele {
namespace {

std::string FieldValue(const RunManifest& manifest, const char* name) {
  for (const PlanField& field : manifest.plan) {
    if (field.name == name) return field.value;
  }
  return {};
}

class RunChecker {
 public:
  RunChecker(std::string folder, FileEnv& env) : folder_(std::move(folder)), env_(env) {}

  RunCheck Check(const RunFolderContent& content) {
    for (const std::string& file : content.foreign) {
      Problem(file + ": not written by tallele");
    }
    for (const std::string& trait : content.traits) CheckTrait(trait, content);
    check_.completed = !check_.traits.empty();
    for (const CheckedTrait& trait : check_.traits) {
      if (trait.status != RunStatus::kCompleted) check_.completed = false;
    }
    return std::move(check_);
  }

 private:
  void Problem(std::string text) { check_.problems.push_back(std::move(text)); }

  void CheckTrait(const std::string& name, const RunFolderContent& content) {
    const std::string path = folder_ + "/" + name + "/" + kManifestName;
    const auto manifest = ReadManifest(path, env_);
    if (!manifest.ok()) return Problem(manifest.error().Message());
    CheckedTrait trait;
    trait.folder = name;
    trait.status = manifest->status;
    trait.num_grid = manifest->grid.size();
    std::set<std::string> recorded;
    for (const CommittedPart& part : manifest->parts) {
      recorded.insert(name + "/parts/" + part.file);
      CheckOne(name, *manifest, part, trait);
    }
    for (const std::string& file : content.files) {
      if (file.starts_with(name + "/parts/") && !recorded.contains(file)) {
        Problem(file + ": a part that the manifest does not record");
      }
    }
    CompareWithFirst(name, *manifest);
    check_.traits.push_back(std::move(trait));
  }

  void CheckOne(const std::string& name, const RunManifest& manifest, const CommittedPart& part,
                CheckedTrait& trait) {
    if (part.file != PartFileName(part.range)) {
      Problem(name + "/" + part.file + ": the name does not say the range of the part");
    }
    const auto checked = CheckPart(folder_ + "/" + name + "/parts", part,
                                   FieldValue(manifest, "trait"), manifest.plan_hash(), env_);
    if (!checked.ok()) return Problem(checked.error().Message());
    // Kept until the run is complete: then the text file has the lines.
    if (part.text && manifest.status != RunStatus::kCompleted) {
      const auto text =
          ReadKeptText(folder_ + "/" + name + "/" + kTextFolderName, *part.text, env_);
      if (!text.ok()) return Problem(text.error().Message());
    }
    ++trait.num_parts;
    trait.num_rows += part.num_rows;
  }

  // Traits of one run were tested on the same genotypes.
  void CompareWithFirst(const std::string& name, const RunManifest& manifest) {
    if (!first_) {
      first_ = manifest;
      first_name_ = name;
      return;
    }
    for (const char* field :
         {"numerical_version", "genotypes.variants_sha256", "genotypes.people_sha256",
          "genotypes.sampled_sha256", "parts.grid_sha256"}) {
      if (FieldValue(manifest, field) == FieldValue(*first_, field)) continue;
      Problem(name + ": " + field + " differs from that of " + first_name_);
    }
  }

  const std::string folder_;
  FileEnv& env_;
  RunCheck check_;
  std::optional<RunManifest> first_;
  std::string first_name_;
};

}  // namespace

Result<RunCheck> CheckRun(const std::string& folder, FileEnv& env) {
  namespace fs = std::filesystem;
  std::error_code code;
  // A trait's own folder: the folder above it, and that trait alone.
  const bool one_trait = fs::exists(fs::path(folder) / kManifestName, code);
  const fs::path path = fs::path(folder).lexically_normal();
  const fs::path trait = path.has_filename() ? path : path.parent_path();
  std::string root = folder;
  if (one_trait) root = trait.has_parent_path() ? trait.parent_path().string() : ".";
  if (!fs::is_directory(root, code)) return IoError("not a folder", root, ENOTDIR);
  TALLELE_ASSIGN(RunFolderContent content, ListRunFolder(root));
  if (one_trait) {
    content.traits = {trait.filename().string()};
    std::erase_if(content.foreign, [&](const std::string& file) {
      return !file.starts_with(content.traits.front() + "/");
    });
  }
  if (content.traits.empty()) {
    return InputError("no run of tallele lies in this folder", folder,
                      "Give the folder <out>.tallele, or that of one trait.");
  }
  return RunChecker(root, env).Check(content);
}

}  // namespace tallele

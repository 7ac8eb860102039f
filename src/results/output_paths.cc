#include "results/output_paths.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "base/atomic_file.h"
#include "results/run_folder.h"
#include "results/wide_text.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNameBytes = 64;

bool IsSafe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '+';
}

// Symlinks of the existing part followed one by one, the rest normalised.
Result<fs::path> Resolve(const std::string& path) {
  std::error_code code;
  fs::path absolute = fs::absolute(path, code);
  if (code) return IoError("cannot resolve the output path", path, code.value());
  fs::path resolved = fs::weakly_canonical(absolute, code);
  if (code) return IoError("cannot resolve the output path", path, code.value());
  if (!resolved.has_filename()) resolved = resolved.parent_path();  // a trailing slash
  return resolved;
}

bool IsSameOrInside(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

Result<void> CheckFolderIsWritable(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    Error error = IoError("the folder of the output does not exist", folder.string(), ENOENT);
    error.advice = "Create it, or choose another --out.";
    return error;
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    Error error = IoError("the folder of the output is not writable", folder.string(), errno);
    error.advice = "Change its permissions, or choose another --out.";
    return error;
  }
  return {};
}

// Empty but for the lock of a run that ended before it wrote anything.
Result<bool> IsUnused(const std::string& name, const fs::path& resolved) {
  std::error_code code;
  for (fs::directory_iterator at(resolved, code), end; !code && at != end; at.increment(code)) {
    if (at->path().filename() != kLockName) return false;
  }
  if (code) return IoError("cannot list the run directory", name, code.value());
  return true;
}

Result<void> CheckRunDirectory(const std::string& name, const fs::path& resolved,
                               bool existing_allowed) {
  TALLELE_TRY(CheckFolderIsWritable(resolved.parent_path()));
  std::error_code code;
  const fs::file_status status = fs::status(resolved, code);
  if (!fs::exists(status)) {
    if (!fs::is_symlink(fs::symlink_status(name, code))) return {};
    return UsageError("the run directory " + name + " is a symbolic link that leads nowhere",
                      "Remove the link, or choose another --out.");
  }
  if (!fs::is_directory(status)) {
    return UsageError("the run directory " + name + " exists and is not a folder",
                      "Move it away, or choose another --out.");
  }
  TALLELE_ASSIGN(const bool unused, IsUnused(name, resolved));
  if (unused || existing_allowed) return CheckFolderIsWritable(resolved);
  return UsageError("the run directory " + name + " holds results of an earlier run",
                    "Finish that run with --resume, replace it with --overwrite, or choose another "
                    "--out.");
}

// Text files of a run with the traits that they are for.
std::vector<std::pair<std::string, std::string>> TextPaths(const OutputRequest& request,
                                                           const std::vector<std::string>& traits) {
  std::vector<std::pair<std::string, std::string>> paths;
  if (!request.split) {
    paths.emplace_back(WideTextPath(request.prefix, request.gzip), "all traits");
    paths.emplace_back(TraitDictionaryPath(request.prefix), "the dictionary of traits");
    return paths;
  }
  for (const std::string& trait : traits) {
    paths.emplace_back(RegenieTextPath(request.prefix, trait, request.gzip), trait);
  }
  return paths;
}

// Where the text file of a trait lands: its folder resolved, its name as it is (a link of that
// name is replaced, not followed).
Result<fs::path> ResolveFile(const std::string& path) {
  TALLELE_ASSIGN(const fs::path folder, Resolve(FolderOf(path)));
  return folder / fs::path(path).filename();
}

Result<void> CheckTextFiles(const OutputRequest& request, const std::vector<std::string>& traits,
                            const fs::path* run_directory) {
  std::unordered_map<std::string, std::string> trait_of_path;
  for (const auto& [name, trait] : TextPaths(request, traits)) {
    TALLELE_ASSIGN(const fs::path path, ResolveFile(name));
    TALLELE_TRY(CheckFolderIsWritable(path.parent_path()));
    std::error_code code;
    if (fs::is_directory(path, code)) {
      return UsageError("the result file " + name + " is a folder", "Choose another --out.");
    }
    if (run_directory != nullptr && IsSameOrInside(path, *run_directory)) {
      return UsageError(
          "the result file " + name + " lies inside the run directory " + run_directory->string(),
          "Give them places beside each other.");
    }
    const auto [other, is_new] = trait_of_path.emplace(path.string(), trait);
    if (!is_new) {
      return UsageError(
          "traits '" + other->second + "' and '" + trait + "' have one result file, " + name,
          "Rename one of them, or analyse them in two runs.");
    }
  }
  return {};
}

}  // namespace

std::string RegenieTextPath(const std::string& prefix, const std::string& trait, bool gzip) {
  std::string name = trait;
  std::replace(name.begin(), name.end(), '/', '_');
  return prefix + "_" + name + (gzip ? ".regenie.gz" : ".regenie");
}

std::string RunDirectory(const OutputRequest& request) {
  return request.run_directory.empty() ? request.prefix + ".tallele" : request.run_directory;
}

std::string PartFileName(VariantRange part) {
  char name[64];
  std::snprintf(name, sizeof name, "part_%09zu_%09zu.parquet", part.first,
                part.first + part.count - 1);
  return name;
}

std::string TraitDirectoryName(size_t trait_number, const std::string& trait) {
  char number[32];
  std::snprintf(number, sizeof number, "trait_%04zu_", trait_number);
  std::string name = trait.substr(0, kMaxNameBytes);
  std::replace_if(name.begin(), name.end(), [](char c) { return !IsSafe(c); }, '_');
  return number + name;
}

std::vector<VariantRange> PartGrid(const VariantIndex& variants, size_t variants_per_part) {
  std::vector<VariantRange> parts;
  for (const ChromosomeRun& run : variants.runs()) {
    for (size_t done = 0; done < run.range.count; done += variants_per_part) {
      parts.push_back(
          {run.range.first + done, std::min(variants_per_part, run.range.count - done)});
    }
  }
  return parts;
}

std::vector<std::string> FilesToReplace(const OutputRequest& request,
                                        const std::vector<std::string>& traits) {
  std::vector<std::string> files;
  if (!request.regenie_text) return files;
  for (const auto& [path, trait] : TextPaths(request, traits)) {
    std::error_code code;
    if (fs::exists(path, code)) files.push_back(path);
  }
  return files;
}

Result<void> CheckOutputs(const OutputRequest& request, const std::vector<std::string>& traits) {
  fs::path run_directory;
  if (request.parquet) {
    const std::string name = RunDirectory(request);
    TALLELE_ASSIGN(run_directory, Resolve(name));
    TALLELE_TRY(CheckRunDirectory(name, run_directory, request.existing_allowed));
  }
  if (!request.regenie_text) return {};
  return CheckTextFiles(request, traits, request.parquet ? &run_directory : nullptr);
}

Result<void> WriteRunFile(const std::string& run_directory, const std::string& name,
                          std::string_view text, FileEnv& env) {
  TALLELE_TRY(env.CreateFolders(run_directory));
  return WriteFileAtomically(run_directory + "/" + name, text, env);
}

}  // namespace tallele

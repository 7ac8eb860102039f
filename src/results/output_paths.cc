#include "results/output_paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "base/atomic_file.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 64;

bool IsSafe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '+';
}

// The nearest existing ancestor must be a folder that can be written to.
Result<void> CheckWritable(const std::string& path) {
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::exists(folder, ignored)) return IoError("the output folder does not exist", folder, ENOENT);
  if (access(folder.c_str(), W_OK) != 0) return IoError("cannot write to the output folder", folder, errno);
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
  return fmt::format("part_{:09}_{:09}.parquet", part.first, part.first + part.count - 1);
}

std::string TraitDirectoryName(size_t trait_number, const std::string& trait) {
  std::string name = trait.substr(0, kLongestName);
  for (char& c : name) {
    if (!IsSafe(c)) c = '_';
  }
  return fmt::format("trait_{:04}_{}", trait_number, name);
}

std::vector<VariantRange> PartGrid(const VariantIndex& variants) {
  std::vector<VariantRange> parts;
  for (const ChromosomeRun& run : variants.runs()) {
    for (size_t at = 0; at < run.range.count; at += kVariantsPerPart) {
      parts.push_back({run.range.first + at, std::min(kVariantsPerPart, run.range.count - at)});
    }
  }
  return parts;
}

std::vector<std::string> FilesToReplace(const OutputRequest& request,
                                        const std::vector<std::string>& traits) {
  std::vector<std::string> files;
  if (!request.regenie_text) return files;
  for (const std::string& trait : traits) {
    const std::string path = RegenieTextPath(request.prefix, trait, request.gzip);
    std::error_code ignored;
    if (fs::exists(path, ignored)) files.push_back(path);
  }
  return files;
}

Result<void> CheckOutputs(const OutputRequest& request, const std::vector<std::string>& traits) {
  TALLELE_TRY(CheckWritable(request.prefix));
  if (request.regenie_text) {
    std::map<std::string, std::string> trait_of_path;
    for (const std::string& trait : traits) {
      const std::string path = RegenieTextPath(request.prefix, trait, request.gzip);
      const auto [other, added] = trait_of_path.try_emplace(path, trait);
      if (!added) {
        return ConfigError("traits " + other->second + " and " + trait +
                               " would be written to the same file",
                           path, "Rename one of them.");
      }
    }
  }
  const std::string directory = RunDirectory(request);
  std::error_code code;
  const fs::file_status status = fs::status(directory, code);
  if (!fs::exists(status)) return CheckWritable(directory);
  if (!fs::is_directory(status)) return IoError("the run directory is a file", directory, ENOTDIR);
  if (fs::is_empty(directory, code)) return {};
  return ConfigError("the run directory already holds results", directory,
                     "Choose another --out, or remove the directory if its results are not needed.");
}

Result<void> WriteRunFile(const std::string& run_directory, const std::string& name,
                          std::string_view text, FileEnv& env) {
  TALLELE_TRY(env.CreateFolders(run_directory));
  return WriteFileAtomically(run_directory + "/" + name, text, env);
}

}  // namespace tallele

#include "results/run_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "results/run_manifest.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "trait_0001_...".
bool IsTraitFolder(std::string_view name) {
  constexpr std::string_view kPrefix = "trait_";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t end = name.find('_');
  return end != std::string_view::npos && end >= 4 && AllDigits(name.substr(0, end));
}

// "part_000000000_000065535.parquet": the prefix, two variants, the suffix.
bool NamesRange(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() < prefix.size() + suffix.size()) {
    return false;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  const size_t middle = name.find('_');
  return middle != std::string_view::npos && middle >= 9 && AllDigits(name.substr(0, middle)) &&
         name.size() - middle > 9 && AllDigits(name.substr(middle + 1));
}

// ".<name>.tmp-<pid>-<count>", as AtomicFile names what is not finished.
bool IsTemporary(std::string_view name) {
  const size_t at = name.rfind(".tmp-");
  if (!name.starts_with('.') || at == std::string_view::npos || at == 0) return false;
  const std::string_view numbers = name.substr(at + 5);
  const size_t dash = numbers.find('-');
  return dash != std::string_view::npos && AllDigits(numbers.substr(0, dash)) &&
         AllDigits(numbers.substr(dash + 1));
}

// Whether tallele writes a file of this name at this place of a run folder.
bool IsOurs(const std::vector<std::string>& place, std::string_view name) {
  switch (place.size()) {
    case 0:
      return name == kLockName || name == kEffectiveConfigName;
    case 1:
      return place[0] == "logs" ? name == kEventLogName || name == kProfileName
                                : name == kManifestName;
    default:
      return place[1] == kTextFolderName ? NamesRange(name, "text_", ".txt")
                                         : NamesRange(name, "part_", ".parquet");
  }
}

bool IsOurFolder(const std::vector<std::string>& place, std::string_view name) {
  if (place.empty()) return name == "logs" || IsTraitFolder(name);
  return place.size() == 1 && place[0] != "logs" && (name == "parts" || name == kTextFolderName);
}

class Lister {
 public:
  explicit Lister(RunFolderContent& content) : content_(content) {}

  Result<void> List(const fs::path& folder, const std::string& prefix) {
    std::error_code code;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      entries.push_back(*at);
    }
    if (code) return IoError("cannot list the folder", folder.string(), code.value());
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      const fs::file_status status = entry.symlink_status(code);
      if (code) return IoError("cannot examine", entry.path().string(), code.value());
      TALLELE_TRY(Add(entry.path(), status.type(), prefix + name, name));
    }
    return {};
  }

 private:
  Result<void> Add(const fs::path& path, fs::file_type type, const std::string& relative,
                   const std::string& name) {
    if (type == fs::file_type::directory && IsOurFolder(place_, name)) {
      content_.folders.push_back(relative);
      if (place_.empty() && name != "logs") content_.traits.push_back(name);
      place_.push_back(name);
      Result<void> listed = List(path, relative + "/");
      place_.pop_back();
      return listed;
    }
    if (type == fs::file_type::regular && IsTemporary(name)) {
      content_.temporaries.push_back(relative);
    } else if (type == fs::file_type::regular && IsOurs(place_, name)) {
      content_.files.push_back(relative);
    } else {
      content_.foreign.push_back(relative);
    }
    return {};
  }

  RunFolderContent& content_;
  std::vector<std::string> place_;
};

}  // namespace

bool RunFolderContent::HasResults() const {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file.ends_with(kManifestName) || file.ends_with(".parquet");
  });
}

Result<RunFolderContent> ListRunFolder(const std::string& folder) {
  RunFolderContent content;
  std::error_code code;
  const fs::file_status status = fs::status(folder, code);
  if (!fs::exists(status)) return content;
  if (!fs::is_directory(status)) return IoError("not a folder", folder, ENOTDIR);
  TALLELE_TRY(Lister(content).List(folder, ""));
  std::sort(content.files.begin(), content.files.end());
  return content;
}

Result<void> RemoveTemporaries(const std::string& folder, const RunFolderContent& content,
                               FileEnv& env) {
  for (const std::string& file : content.temporaries) TALLELE_TRY(env.Remove(folder + "/" + file));
  return {};
}

Result<void> RemoveRun(const std::string& folder, FileEnv& env) {
  TALLELE_ASSIGN(const RunFolderContent content, ListRunFolder(folder));
  if (!content.foreign.empty()) {
    return UsageError(folder + "/" + content.foreign.front() +
                          " was not written by tallele, so --overwrite removes nothing",
                      "Move it away, or choose another --out.");
  }
  // Manifests first: without them, parts that are left by a crash in between count for nothing.
  std::vector<std::string> files = content.files;
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& file) { return file.ends_with(kManifestName); });
  for (const std::string& file : files) {
    if (file != kLockName) TALLELE_TRY(env.Remove(folder + "/" + file));
  }
  TALLELE_TRY(RemoveTemporaries(folder, content, env));
  for (auto at = content.folders.rbegin(); at != content.folders.rend(); ++at) {
    TALLELE_TRY(env.RemoveFolder(folder + "/" + *at));
  }
  return {};
}

}  // namespace tallele

#ifndef TALLELE_RESULTS_RUN_FOLDER_H_
#define TALLELE_RESULTS_RUN_FOLDER_H_

#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

inline constexpr char kLockName[] = ".lock";
inline constexpr char kEffectiveConfigName[] = "effective_config.toml";
inline constexpr char kEventLogName[] = "events.jsonl";
inline constexpr char kProfileName[] = "profile.json";
inline constexpr char kTextFolderName[] = "text";  // in a trait's folder, beside its parts

// What lies in a run folder, told apart by name and place. Paths are relative to the folder.
struct RunFolderContent {
  std::vector<std::string> traits;  // "trait_0001_BMI", sorted
  std::vector<std::string>
      files;  // written by a run: manifests, parts, configuration, logs; sorted
  std::vector<std::string> folders;      // written by a run, inner ones last
  std::vector<std::string> temporaries;  // hidden leftovers of a run that was killed
  std::vector<std::string> foreign;      // anything else

  // Nothing but what a run makes before its first manifest.
  bool HasResults() const;
};

// Lists the folder (none: empty content). Symbolic links count as foreign and are not followed.
Result<RunFolderContent> ListRunFolder(const std::string& folder);

// Removes an earlier run, and only files that tallele wrote. Refuses, before anything is removed,
// where something else lies in the folder. The lock file stays.
Result<void> RemoveRun(const std::string& folder, FileEnv& env = PosixFileEnv());

// Removes hidden leftovers.
Result<void> RemoveTemporaries(const std::string& folder, const RunFolderContent& content,
                               FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_RUN_FOLDER_H_

#ifndef TALLELE_TESTS_CRASH_CRASH_FILE_ENV_H_
#define TALLELE_TESTS_CRASH_CRASH_FILE_ENV_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_env.h"

namespace tallele::crash {

// What goes wrong, and when: at the operation of that number, or from it on.
enum class Fault {
  kNone,
  kKillBefore,   // the process ends before the operation
  kKillHalfway,  // after half of the bytes of a write; before any other operation
  kKillAfter,    // after the operation, before anything else
  kNoSpace,      // writes fail from there on, after half of their bytes
  kIoError,      // every operation fails from there on
  kOneFailure,   // this operation fails, later ones do not
  kReadOnly,     // no file can be made from there on
  kRenameLost,   // renames report success from there on and do nothing
  kFolderGone,   // the run folder is removed by somebody else
};

// A file environment that counts every operation that changes the disk (open, write, sync, rename,
// remove, folder), and breaks at a chosen one. After a kill nothing reaches the disk any more.
// `PowerCut` then takes away what was not synced: bytes after the last sync of a file, renames and
// removals whose folder was not synced.
class CrashFileEnv final : public FileEnv {
 public:
  explicit CrashFileEnv(Fault fault = Fault::kNone, int64_t at = -1) : fault_(fault), at_(at) {}

  void set_folder_to_remove(std::string folder) { folder_to_remove_ = std::move(folder); }
  int64_t num_operations() const { return operations_; }
  bool struck() const { return struck_; }
  void PowerCut();

  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path) override;
  Result<FileIdentity> Identity(const std::string& path) override;
  Result<void> Rename(const std::string& from, const std::string& to) override;
  Result<void> Remove(const std::string& path) override;
  Result<void> RemoveFolder(const std::string& folder) override;
  Result<void> SyncFolder(const std::string& folder) override;
  Result<void> CreateFolders(const std::string& folder) override;

  // For the files that it opens.
  Result<void> Append(WritableFile& file, const std::string& path,
                      std::span<const std::byte> bytes);
  Result<void> Sync(const std::string& path);

 private:
  // A name whose change is not on disk yet, and what it stood for before.
  struct PendingName {
    std::string path;
    std::optional<std::string> content;
  };
  enum class Verdict { kGoOn, kFail, kFailHalfway, kDieAfter };

  Verdict Next(bool is_write, bool makes_file);
  Error Failure(const std::string& path) const;
  void RememberName(const std::string& path);

  const Fault fault_;
  const int64_t at_;
  std::string folder_to_remove_;
  int64_t operations_ = 0;
  bool struck_ = false;
  bool dead_ = false;
  std::map<std::string, uint64_t> synced_bytes_;  // of files that were written and not renamed
  std::vector<PendingName> pending_;
};

}  // namespace tallele::crash

#endif  // TALLELE_TESTS_CRASH_CRASH_FILE_ENV_H_

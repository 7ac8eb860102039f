#ifndef TALLELE_BASE_FILE_ENV_H_
#define TALLELE_BASE_FILE_ENV_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// Tells two states of a file apart. Device numbers are left out: they differ between the nodes
// of a cluster for the same shared file.
struct FileIdentity {
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

// An opened file, read at given offsets; safe for many threads.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Exactly `out.size()` bytes at `offset`, or an error that names the file and the byte.
  Result<void> ReadAt(uint64_t offset, std::span<std::byte> out) const;
  // The bytes at `offset` that one call gives: at most `out.size()`, 0 only at the end of the file.
  // What has no offsets (a pipe) is read on from where the last call ended.
  virtual Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) const = 0;
  virtual Result<FileIdentity> Identity() const = 0;
  virtual const std::string& path() const = 0;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Result<void> Append(std::span<const std::byte> bytes) = 0;
  virtual Result<void> Sync() = 0;
  virtual Result<void> Close() = 0;
};

// The seam for file access that tests can break.
class FileEnv {
 public:
  virtual ~FileEnv() = default;
  virtual Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) = 0;
  // A new empty file; replaces one of that name.
  virtual Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path) = 0;
  virtual Result<FileIdentity> Identity(const std::string& path) = 0;
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> Remove(const std::string& path) = 0;
  // An empty folder.
  virtual Result<void> RemoveFolder(const std::string& folder) = 0;
  virtual Result<void> SyncFolder(const std::string& folder) = 0;
  // The folder and those above it that are missing, on disk when it returns.
  virtual Result<void> CreateFolders(const std::string& folder) = 0;
};

// The operating system's files.
FileEnv& PosixFileEnv();

// Passes everything on to `base`, which must outlive it: for environments that change a part.
class ForwardingFileEnv : public FileEnv {
 public:
  explicit ForwardingFileEnv(FileEnv& base) : base_(base) {}

  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path) override;
  Result<FileIdentity> Identity(const std::string& path) override;
  Result<void> Rename(const std::string& from, const std::string& to) override;
  Result<void> Remove(const std::string& path) override;
  Result<void> RemoveFolder(const std::string& folder) override;
  Result<void> SyncFolder(const std::string& folder) override;
  Result<void> CreateFolders(const std::string& folder) override;

 protected:
  FileEnv& base() const { return base_; }

 private:
  FileEnv& base_;
};

// Lets chosen calls fail as a full disk would.
class FaultFileEnv final : public ForwardingFileEnv {
 public:
  using ForwardingFileEnv::ForwardingFileEnv;

  // 0-based number of the call from which on every call of the kind fails; -1: never.
  int fail_append_from = -1;
  int fail_sync_from = -1;
  int fail_rename_from = -1;

  Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path) override;
  Result<void> Rename(const std::string& from, const std::string& to) override;

  // For the files that it opens: counts a call and says whether it fails.
  bool CountAppend() { return Count(appends_, fail_append_from); }
  bool CountSync() { return Count(syncs_, fail_sync_from); }

 private:
  static bool Count(int& calls, int from) { return from >= 0 && calls++ >= from; }

  int appends_ = 0;
  int syncs_ = 0;
  int renames_ = 0;
};

// "a/b" of "a/b/c"; "." when there is no folder.
std::string FolderOf(const std::string& path);

}  // namespace tallele

#endif  // TALLELE_BASE_FILE_ENV_H_

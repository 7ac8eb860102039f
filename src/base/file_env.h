#ifndef TALLELE_BASE_FILE_ENV_H_
#define TALLELE_BASE_FILE_ENV_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tallele {

// What tells one state of a file from another, cheaply. Equal identities: not changed.
struct FileIdentity {
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  bool is_directory = false;

  bool operator==(const FileIdentity&) const = default;
};

// An open file with positioned reads. Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual const std::string& path() const = 0;
  // As it was when the file was opened.
  virtual const FileIdentity& identity() const = 0;
  std::int64_t size() const { return identity().size; }
  // Fills all of `bytes` from `offset`, or an error that names file and byte.
  virtual Result<void> ReadAt(std::int64_t offset, std::span<std::byte> bytes) const = 0;
  // A hint that [offset, offset + length) will be read soon. Never fails.
  virtual void WillNeed(std::int64_t offset, std::int64_t length) const = 0;
};

// A file being written from its start. Not thread-safe. Closed by the destructor, where a failure
// is lost: call `Close` to see it.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual const std::string& path() const = 0;
  // Writes all of `bytes`, or fails; after a failure the content is undefined.
  virtual Result<void> Append(std::span<const std::byte> bytes) = 0;
  // Waits until everything appended is on the disk.
  virtual Result<void> Sync() = 0;
  virtual Result<void> Close() = 0;

  Result<void> Append(std::string_view text) { return Append(std::as_bytes(std::span(text))); }
};

// All access of the libraries to files, so that tests can break it. Thread-safe.
class FileEnv {
 public:
  virtual ~FileEnv() = default;
  virtual Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& path) = 0;
  // Creates the file or truncates it.
  virtual Result<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& path) = 0;
  virtual Result<FileIdentity> Stat(const std::string& path) = 0;
  // False when nothing is there or it cannot be looked at.
  virtual bool Exists(const std::string& path) = 0;
  // Replaces `to` at once.
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  // Removes a file or an empty directory. Something that is not there is an error.
  virtual Result<void> Remove(const std::string& path) = 0;
  // Makes the directory and its parents; fine when it exists.
  virtual Result<void> CreateDirectories(const std::string& path) = 0;
  // Names (not paths) in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> List(const std::string& path) = 0;
  // Makes creations, renames and removals in a directory durable.
  virtual Result<void> SyncDirectory(const std::string& path) = 0;
};

// The operating system's files.
FileEnv& PosixFileEnv();

// Whole content of a file no longer than `max_bytes`; a longer one is an input error.
Result<std::string> ReadFileToString(FileEnv& env, const std::string& path,
                                     std::int64_t max_bytes = std::int64_t{64} << 20);

// "dir" of "dir/name", "." of "name", "/" of "/name".
std::string DirectoryOf(const std::string& path);

}  // namespace tallele

#endif  // TALLELE_BASE_FILE_ENV_H_

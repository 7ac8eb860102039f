#ifndef TALLELE_BASE_ATOMIC_FILE_H_
#define TALLELE_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// A file that appears under its name only when it is complete and on the disk. It is written to
// the hidden `.name.tmp-<pid>-<n>` in the same directory; without `Commit` nothing stays behind.
// Not thread-safe.
class AtomicFile {
 public:
  static Result<std::unique_ptr<AtomicFile>> Create(FileEnv& env, const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // The first failure sticks: later calls and `Commit` return it again.
  Result<void> Append(std::span<const std::byte> bytes);
  Result<void> Append(std::string_view text) { return Append(std::as_bytes(std::span(text))); }

  // Flush, sync, rename to the final name, sync of the directory. Valid once, no `Append` after.
  Result<void> Commit();

  const std::string& path() const { return path_; }
  // Where the bytes are until `Commit`.
  const std::string& temporary_path() const { return temporary_path_; }
  std::int64_t bytes_appended() const { return bytes_appended_; }

 private:
  AtomicFile(FileEnv& env, std::string path, std::string temporary_path,
             std::unique_ptr<WritableFile> file);
  Result<void> Flush();
  Result<void> PublishOnce();
  Result<void> Remember(Result<void> outcome);

  FileEnv& env_;
  std::string path_;
  std::string temporary_path_;
  std::unique_ptr<WritableFile> file_;
  std::vector<std::byte> buffer_;
  std::int64_t bytes_appended_ = 0;
  bool renamed_ = false;
  bool committed_ = false;
  Result<void> failure_;
};

// The hidden temporary name for `path` in the same directory, unique within all live processes.
std::string TemporaryPathFor(const std::string& path);

// True for a file name (not a path) that `TemporaryPathFor` makes; such a file is left over when
// no process with its number lives.
bool IsTemporaryName(std::string_view name);

// Writes `content` as an `AtomicFile`.
Result<void> WriteFileAtomically(FileEnv& env, const std::string& path, std::string_view content);

}  // namespace tallele

#endif  // TALLELE_BASE_ATOMIC_FILE_H_

#ifndef TALLELE_BASE_ATOMIC_FILE_H_
#define TALLELE_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// A file that appears under its name only when it is complete and on disk. Bytes go to a hidden
// temporary in the same folder; `Commit` syncs and renames it. Destroyed without `Commit`, it
// leaves nothing behind.
class AtomicFile {
 public:
  static Result<std::unique_ptr<AtomicFile>> Create(const std::string& path,
                                                    FileEnv& env = PosixFileEnv());
  ~AtomicFile();

  // Buffered. After a failure every later call fails with the same error.
  Result<void> Append(std::string_view bytes);
  Result<void> Append(std::span<const std::byte> bytes);

  // Flush, sync, rename, sync the folder.
  Result<void> Commit();

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_path_; }

 private:
  AtomicFile(std::string path, std::string temporary_path, FileEnv& env);
  Result<void> Flush();

  std::string path_;
  std::string temporary_path_;
  FileEnv& env_;
  std::unique_ptr<WritableFile> file_;
  std::string buffer_;
  std::optional<Error> failure_;  // the first one
  bool committed_ = false;
};

// Writes a whole small file atomically.
Result<void> WriteFileAtomically(const std::string& path, std::string_view text,
                                 FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_BASE_ATOMIC_FILE_H_

#ifndef TALLELE_BASE_KEPT_FILE_ENV_H_
#define TALLELE_BASE_KEPT_FILE_ENV_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// Reads a file that several users expect once: its bytes stay in memory as long as size, inode and
// times of the file are those of when they were read. One that changed is read again. Files that
// nobody announced, or that are too large, are read directly. Safe for many threads; one that opens
// a file waits for another that reads one.
class KeptFileEnv final : public ForwardingFileEnv {
 public:
  // At most `most_bytes` are kept; the files that were not asked for longest make room.
  KeptFileEnv(FileEnv& base, uint64_t most_bytes)
      : ForwardingFileEnv(base), most_bytes_(most_bytes) {}

  // One more user will read the file. Names that lead to one file, also through links, are one.
  void Expect(const std::string& path);

  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override;

  struct Content {
    FileIdentity identity;
    std::vector<std::byte> bytes;
  };

 private:
  struct Shared {
    size_t users = 0;
    std::shared_ptr<const Content> content;  // null: not read, or it had to make room
    uint64_t last_asked = 0;
  };
  Result<std::shared_ptr<const Content>> Read(const ReadableFile& file,
                                              const FileIdentity& identity) const;
  void MakeRoom(uint64_t bytes);

  std::mutex mutex_;
  const uint64_t most_bytes_;
  uint64_t kept_bytes_ = 0;
  uint64_t asked_ = 0;
  std::map<std::string, Shared> shared_;  // by path without links
};

}  // namespace tallele

#endif  // TALLELE_BASE_KEPT_FILE_ENV_H_

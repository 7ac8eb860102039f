#ifndef TALLELE_ANCESTRY_MODEL_ZIP_ARCHIVE_H_
#define TALLELE_ANCESTRY_MODEL_ZIP_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"

namespace tallele {

// A ZIP archive that is open for reading: `.npz` and `.pt` files, and our packages. Not safe for
// more than one thread at a time.
class ZipArchive {
 public:
  static Result<ZipArchive> Open(const std::string& path);
  ~ZipArchive();
  ZipArchive(ZipArchive&& other) noexcept;
  ZipArchive& operator=(ZipArchive&& other) noexcept;

  const std::string& path() const { return path_; }
  // Names of the members, in the order of the directory.
  const std::vector<std::string>& names() const { return names_; }
  std::optional<size_t> Find(std::string_view name) const;

  // A whole member, its checksum verified. A member that claims to unpack to more than its packed
  // bytes can give is an error, so memory stays bounded by the file's size (times 1,032, the most
  // that deflate can do).
  Result<std::string> Read(size_t member) const;
  Result<std::string> Read(std::string_view name) const;

 private:
  ZipArchive() = default;
  Error Fail(std::string what, std::string_view member = {}) const;

  std::string path_;
  void* handle_ = nullptr;  // zip_t
  std::vector<std::string> names_;
};

// Writes a ZIP archive with stored members whose bytes begin at multiples of 64, as PyTorch's own
// files do and as memory mapping likes. Appears under its name only when it is complete. No times
// are stored: the same members give the same bytes.
class StoredZipWriter {
 public:
  static Result<StoredZipWriter> Create(const std::string& path, FileEnv& env = PosixFileEnv());

  Result<void> Add(std::string_view name, std::string_view content);

  // A member that is too large to hold: `produce` gives its bytes piece by piece to what it is
  // called with, the same ones each time. It is called twice, since the checksum stands first.
  using PieceSink = std::function<Result<void>(std::string_view)>;
  Result<void> AddInPieces(std::string_view name,
                           const std::function<Result<void>(const PieceSink&)>& produce);

  // Writes the directory and publishes the file.
  Result<void> Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t size;
    uint64_t offset;
  };

  explicit StoredZipWriter(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}
  Result<void> Append(std::string_view bytes);
  Result<void> BeginMember(std::string_view name, uint32_t crc, uint64_t size);

  std::unique_ptr<AtomicFile> file_;
  std::vector<Entry> entries_;
  uint64_t offset_ = 0;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_ZIP_ARCHIVE_H_

#ifndef TALLELE_TESTS_SUPPORT_FIXTURES_H_
#define TALLELE_TESTS_SUPPORT_FIXTURES_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tallele {

// The folder of shared fixtures (`golden/`, `bgen-example/`, ...): `fixtures` inside
// `$TALLELE_SHARED`, else inside `shared` beside the source tree. Nothing where it is absent: the
// test then skips with a message.
std::optional<std::filesystem::path> SharedFixtures();

// `tests/data` of the source tree: small files that every clone has.
std::filesystem::path TestData();

// A fresh folder below the system's temporary folder, removed with its content at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Path of `name` inside the folder, as text.
  std::string File(std::string_view name) const { return (path_ / name).string(); }
  // Writes `content` to `name` inside the folder; the path of the file.
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

// Whole content of a file; empty, with a test failure, when it cannot be read.
std::string ReadWholeFile(const std::filesystem::path& path);

}  // namespace tallele

#endif  // TALLELE_TESTS_SUPPORT_FIXTURES_H_

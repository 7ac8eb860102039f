#include "tests/support/fixtures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace tallele {

namespace fs = std::filesystem;

std::optional<fs::path> SharedFixtures() {
  const char* from_environment = std::getenv("TALLELE_SHARED");
  const fs::path root =
      from_environment != nullptr ? from_environment : fs::path(TALLELE_SOURCE_DIR) / "../shared";
  std::error_code error;
  if (!fs::is_directory(root / "fixtures", error)) return std::nullopt;
  return fs::canonical(root / "fixtures");
}

fs::path TestData() { return fs::path(TALLELE_SOURCE_DIR) / "tests/data"; }

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "tallele-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    ADD_FAILURE() << "cannot make a temporary folder like " << pattern;
    std::abort();
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempDir::Write(std::string_view name, std::string_view content) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  EXPECT_TRUE(stream.good()) << path;
  return path.string();
}

std::string ReadWholeFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace tallele

#include "ancestry/model/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tallele {
namespace {

zip_t* Handle(void* handle) { return static_cast<zip_t*>(handle); }

// The most that one packed byte can unpack to with deflate, and room for tiny members.
constexpr uint64_t kLargestRatio = 1032;
constexpr uint64_t kSlack = 4096;

}  // namespace

ZipArchive::~ZipArchive() {
  if (handle_ != nullptr) zip_discard(Handle(handle_));
}

ZipArchive::ZipArchive(ZipArchive&& other) noexcept
    : path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, nullptr)),
      names_(std::move(other.names_)) {}

ZipArchive& ZipArchive::operator=(ZipArchive&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  std::swap(names_, other.names_);
  return *this;
}

Error ZipArchive::Fail(std::string what, std::string_view member) const {
  return InputError(std::move(what),
                    member.empty() ? path_ : fmt::format("{}, member {}", path_, member));
}

Result<ZipArchive> ZipArchive::Open(const std::string& path) {
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(path));
  ZipArchive archive;
  archive.path_ = path;
  int code = 0;
  archive.handle_ = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive.handle_ == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    Error failure = InputError("this is no ZIP archive that can be read", path,
                               "Check that the file is complete.");
    failure.found = fmt::format("{} bytes: {}", identity.size, zip_error_strerror(&error));
    zip_error_fini(&error);
    return failure;
  }
  const zip_int64_t count = zip_get_num_entries(Handle(archive.handle_), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(Handle(archive.handle_), static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr) return archive.Fail("a member of the archive has no name");
    archive.names_.emplace_back(name);
  }
  return archive;
}

std::optional<size_t> ZipArchive::Find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<size_t>(found - names_.begin());
}

Result<std::string> ZipArchive::Read(std::string_view name) const {
  const auto member = Find(name);
  if (!member) return Fail("the archive lacks a member", name);
  return Read(*member);
}

Result<std::string> ZipArchive::Read(size_t member) const {
  const std::string& name = names_[member];
  zip_stat_t stat;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(Handle(handle_), member, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    return Fail("the archive does not say how large a member is", name);
  }
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(path_));
  if (stat.comp_size > identity.size || stat.size > stat.comp_size * kLargestRatio + kSlack) {
    return Fail("a member claims a size that its packed bytes cannot give", name);
  }
  zip_file_t* file = zip_fopen_index(Handle(handle_), member, 0);
  if (file == nullptr) {
    return Fail(fmt::format("a member cannot be read ({})", zip_strerror(Handle(handle_))), name);
  }
  std::string content(stat.size, '\0');
  // One byte more than there should be: only the end of the data makes libzip check the sum.
  char extra;
  uint64_t held = 0;
  zip_int64_t got = 0;
  while (held < stat.size && (got = zip_fread(file, content.data() + held, stat.size - held)) > 0) {
    held += static_cast<uint64_t>(got);
  }
  if (held == stat.size) got = zip_fread(file, &extra, 1);
  const std::string reason = got < 0 ? zip_file_strerror(file) : "";
  zip_fclose(file);
  if (got < 0) return Fail(fmt::format("a member is damaged ({})", reason), name);
  if (held != stat.size || got > 0) return Fail("a member is longer or shorter than stated", name);
  return content;
}

}  // namespace tallele

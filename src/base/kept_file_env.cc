#include "base/kept_file_env.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tallele {
namespace {

std::string WithoutLinks(const std::string& path) {
  std::error_code code;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, code);
  return code ? path : real.string();
}

class KeptFile final : public ReadableFile {
 public:
  KeptFile(std::shared_ptr<const KeptFileEnv::Content> content, std::string path)
      : content_(std::move(content)), path_(std::move(path)) {}

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) const override {
    const std::vector<std::byte>& bytes = content_->bytes;
    if (offset >= bytes.size()) return size_t{0};
    const size_t count = std::min(out.size(), bytes.size() - static_cast<size_t>(offset));
    if (count > 0) std::memcpy(out.data(), bytes.data() + offset, count);
    return count;
  }
  Result<FileIdentity> Identity() const override { return content_->identity; }
  const std::string& path() const override { return path_; }

 private:
  std::shared_ptr<const KeptFileEnv::Content> content_;
  std::string path_;
};

}  // namespace

void KeptFileEnv::Expect(const std::string& path) {
  const std::lock_guard lock(mutex_);
  ++shared_[WithoutLinks(path)].users;
}

Result<std::unique_ptr<ReadableFile>> KeptFileEnv::OpenToRead(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto at = shared_.find(WithoutLinks(path));
  if (at == shared_.end() || at->second.users < 2) return base().OpenToRead(path);
  Shared& shared = at->second;
  shared.last_asked = ++asked_;
  if (shared.content != nullptr) {
    TALLELE_ASSIGN(const FileIdentity now, base().Identity(path));
    if (now == shared.content->identity) {
      return std::unique_ptr<ReadableFile>(new KeptFile(shared.content, path));
    }
    kept_bytes_ -= shared.content->bytes.size();
    shared.content.reset();
  }
  TALLELE_ASSIGN(auto file, base().OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  if (identity.size == 0 || identity.size > most_bytes_) return file;
  MakeRoom(identity.size);
  TALLELE_ASSIGN(auto content, Read(*file, identity));
  if (content == nullptr) return file;
  kept_bytes_ += content->bytes.size();
  shared.content = std::move(content);
  return std::unique_ptr<ReadableFile>(new KeptFile(shared.content, path));
}

// Null when the file changed meanwhile: its user then finds that out from the file itself.
Result<std::shared_ptr<const KeptFileEnv::Content>> KeptFileEnv::Read(
    const ReadableFile& file, const FileIdentity& identity) const {
  auto content = std::make_shared<Content>();
  content->identity = identity;
  content->bytes.resize(identity.size);
  TALLELE_TRY(file.ReadAt(0, content->bytes));
  TALLELE_ASSIGN(const FileIdentity after, file.Identity());
  if (!(after == identity)) return std::shared_ptr<const Content>();
  return std::shared_ptr<const Content>(std::move(content));
}

void KeptFileEnv::MakeRoom(uint64_t bytes) {
  while (kept_bytes_ + bytes > most_bytes_) {
    Shared* oldest = nullptr;
    for (auto& [path, shared] : shared_) {
      if (shared.content == nullptr) continue;
      if (oldest == nullptr || shared.last_asked < oldest->last_asked) oldest = &shared;
    }
    if (oldest == nullptr) return;
    kept_bytes_ -= oldest->content->bytes.size();
    oldest->content.reset();
  }
}

}  // namespace tallele

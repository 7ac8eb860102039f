#include "tests/crash/crash_file_env.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tallele::crash {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ContentOf(const std::string& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class File final : public WritableFile {
 public:
  File(std::unique_ptr<WritableFile> base, std::string path, CrashFileEnv& env)
      : base_(std::move(base)), path_(std::move(path)), env_(env) {}

  Result<void> Append(std::span<const std::byte> bytes) override {
    return env_.Append(*base_, path_, bytes);
  }
  Result<void> Sync() override { return env_.Sync(path_); }
  Result<void> Close() override { return base_->Close(); }

 private:
  std::unique_ptr<WritableFile> base_;
  std::string path_;
  CrashFileEnv& env_;
};

}  // namespace

CrashFileEnv::Verdict CrashFileEnv::Next(bool is_write, bool makes_file) {
  if (dead_) return Verdict::kFail;
  const int64_t number = operations_++;
  if (at_ < 0 || number < at_) return Verdict::kGoOn;
  const bool now = number == at_;
  struck_ = true;
  switch (fault_) {
    case Fault::kNone:
    case Fault::kRenameLost:
      return Verdict::kGoOn;
    case Fault::kKillBefore:
      dead_ = true;
      return Verdict::kFail;
    case Fault::kKillHalfway:
      dead_ = true;
      return is_write ? Verdict::kFailHalfway : Verdict::kFail;
    case Fault::kKillAfter:
      return Verdict::kDieAfter;
    case Fault::kNoSpace:
      return is_write ? Verdict::kFailHalfway : Verdict::kGoOn;
    case Fault::kIoError:
      return Verdict::kFail;
    case Fault::kOneFailure:
      return now ? Verdict::kFail : Verdict::kGoOn;
    case Fault::kReadOnly:
      return makes_file ? Verdict::kFail : Verdict::kGoOn;
    case Fault::kFolderGone:
      if (now) fs::remove_all(folder_to_remove_);
      return Verdict::kGoOn;
  }
  return Verdict::kGoOn;
}

Error CrashFileEnv::Failure(const std::string& path) const {
  const int code = fault_ == Fault::kNoSpace ? ENOSPC : fault_ == Fault::kReadOnly ? EROFS : EIO;
  return IoError(dead_ ? "the process was killed" : "the disk failed", path, code);
}

// Runs one operation under the verdict; `work` is what reaches the disk.
#define TALLELE_UNDER_FAULT(path, is_write, makes_file)       \
  const Verdict verdict = Next(is_write, makes_file);         \
  if (verdict == Verdict::kFail) return Failure(path);        \
  const auto die = [&]() -> Result<void> {                    \
    if (verdict != Verdict::kDieAfter) return Result<void>(); \
    dead_ = true;                                             \
    return Failure(path);                                     \
  }

Result<std::unique_ptr<ReadableFile>> CrashFileEnv::OpenToRead(const std::string& path) {
  if (dead_) return Failure(path);
  return PosixFileEnv().OpenToRead(path);
}

Result<FileIdentity> CrashFileEnv::Identity(const std::string& path) {
  if (dead_) return Failure(path);
  return PosixFileEnv().Identity(path);
}

Result<std::unique_ptr<WritableFile>> CrashFileEnv::OpenToWrite(const std::string& path) {
  TALLELE_UNDER_FAULT(path, false, true);
  TALLELE_ASSIGN(auto file, PosixFileEnv().OpenToWrite(path));
  synced_bytes_[path] = 0;
  TALLELE_TRY(die());
  return std::unique_ptr<WritableFile>(new File(std::move(file), path, *this));
}

Result<void> CrashFileEnv::Append(WritableFile& file, const std::string& path,
                                  std::span<const std::byte> bytes) {
  TALLELE_UNDER_FAULT(path, true, false);
  if (verdict == Verdict::kFailHalfway) {
    TALLELE_TRY(file.Append(bytes.first(bytes.size() / 2)));
    return Failure(path);
  }
  TALLELE_TRY(file.Append(bytes));
  return die();
}

// Not passed on: a killed process loses nothing that it wrote, and a power cut is played below.
Result<void> CrashFileEnv::Sync(const std::string& path) {
  TALLELE_UNDER_FAULT(path, false, false);
  std::error_code code;
  synced_bytes_[path] = fs::file_size(path, code);
  return die();
}

void CrashFileEnv::RememberName(const std::string& path) {
  pending_.push_back({path, ContentOf(path)});
}

Result<void> CrashFileEnv::Rename(const std::string& from, const std::string& to) {
  TALLELE_UNDER_FAULT(to, false, false);
  if (fault_ == Fault::kRenameLost && struck_) return {};
  RememberName(to);
  TALLELE_TRY(PosixFileEnv().Rename(from, to));
  synced_bytes_.erase(from);
  return die();
}

Result<void> CrashFileEnv::Remove(const std::string& path) {
  TALLELE_UNDER_FAULT(path, false, false);
  RememberName(path);
  TALLELE_TRY(PosixFileEnv().Remove(path));
  synced_bytes_.erase(path);
  return die();
}

Result<void> CrashFileEnv::RemoveFolder(const std::string& folder) {
  TALLELE_UNDER_FAULT(folder, false, false);
  TALLELE_TRY(PosixFileEnv().RemoveFolder(folder));
  return die();
}

Result<void> CrashFileEnv::SyncFolder(const std::string& folder) {
  TALLELE_UNDER_FAULT(folder, false, false);
  if (!fs::is_directory(folder)) return IoError("cannot open the folder", folder, ENOENT);
  std::erase_if(pending_, [&](const PendingName& name) { return FolderOf(name.path) == folder; });
  return die();
}

Result<void> CrashFileEnv::CreateFolders(const std::string& folder) {
  TALLELE_UNDER_FAULT(folder, false, true);
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return IoError("cannot create the folder", folder, code.value());
  return die();
}

#undef TALLELE_UNDER_FAULT

void CrashFileEnv::PowerCut() {
  for (const auto& [path, bytes] : synced_bytes_) {
    std::error_code code;
    if (fs::exists(path, code)) fs::resize_file(path, bytes, code);
  }
  for (auto name = pending_.rbegin(); name != pending_.rend(); ++name) {
    std::error_code code;
    if (!name->content) {
      fs::remove(name->path, code);
    } else {
      std::ofstream(name->path, std::ios::binary) << *name->content;
    }
  }
  pending_.clear();
  synced_bytes_.clear();
}

}  // namespace tallele::crash

#include "base/atomic_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tallele {
namespace {

constexpr size_t kFlushAt = size_t{1} << 20;

// Hidden, so that readers of a folder (Parquet datasets) never pick it up.
std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> counter{0};
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return folder + "." + name + ".tmp-" + std::to_string(getpid()) + "-" +
         std::to_string(counter.fetch_add(1));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string temporary_path, FileEnv& env)
    : path_(std::move(path)), temporary_path_(std::move(temporary_path)), env_(env) {}

Result<std::unique_ptr<AtomicFile>> AtomicFile::Create(const std::string& path, FileEnv& env) {
  std::unique_ptr<AtomicFile> file(new AtomicFile(path, TemporaryName(path), env));
  TALLELE_ASSIGN(file->file_, env.OpenToWrite(file->temporary_path_));
  return file;
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  file_.reset();
  // Nothing more can be done about a temporary that cannot be removed.
  [[maybe_unused]] const Result<void> ignored = env_.Remove(temporary_path_);
}

Result<void> AtomicFile::Append(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kFlushAt) return Flush();
  return {};
}

Result<void> AtomicFile::Append(std::span<const std::byte> bytes) {
  return Append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<void> AtomicFile::Flush() {
  if (failure_) return *failure_;
  const Result<void> done = file_->Append(std::as_bytes(std::span(buffer_.data(), buffer_.size())));
  if (!done.ok()) failure_ = done.error();
  buffer_.clear();
  return done;
}

Result<void> AtomicFile::Commit() {
  TALLELE_TRY(Flush());
  TALLELE_TRY(file_->Sync());
  TALLELE_TRY(file_->Close());
  TALLELE_ASSIGN(const FileIdentity written, env_.Identity(temporary_path_));
  TALLELE_TRY(env_.Rename(temporary_path_, path_));
  committed_ = true;
  TALLELE_TRY(env_.SyncFolder(FolderOf(path_)));
  // Some network file systems report a rename that did not happen.
  TALLELE_ASSIGN(const FileIdentity renamed, env_.Identity(path_));
  if (renamed.inode == written.inode && renamed.size == written.size) return {};
  Error error = IoError("the file system lost a file that it reported as renamed", path_, EIO);
  error.advice = "Run again with --resume, on a file system that keeps what it confirms.";
  return error;
}

Result<void> WriteFileAtomically(const std::string& path, std::string_view text, FileEnv& env) {
  TALLELE_ASSIGN(auto file, AtomicFile::Create(path, env));
  TALLELE_TRY(file->Append(text));
  return file->Commit();
}

}  // namespace tallele

#include "base/file_env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace tallele {
namespace {

FileIdentity IdentityOf(const struct stat& s) {
  FileIdentity identity;
  identity.size = static_cast<uint64_t>(s.st_size);
  identity.inode = s.st_ino;
  identity.modified_ns = int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
  identity.changed_ns = int64_t{s.st_ctim.tv_sec} * 1'000'000'000 + s.st_ctim.tv_nsec;
  return identity;
}

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  ~PosixReadableFile() override { close(descriptor_); }

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) const override {
    while (true) {
      ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == ESPIPE) got = read(descriptor_, out.data(), out.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR) continue;
      return IoError("cannot read at byte " + std::to_string(offset), path_, errno);
    }
  }

  Result<FileIdentity> Identity() const override {
    struct stat s{};
    if (fstat(descriptor_, &s) != 0) return IoError("cannot examine the file", path_, errno);
    return IdentityOf(s);
  }

  const std::string& path() const override { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  ~PosixWritableFile() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  Result<void> Append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = write(descriptor_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return IoError("cannot write", path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(put));
    }
    return {};
  }

  Result<void> Sync() override {
    if (fsync(descriptor_) != 0) return IoError("cannot sync to disk", path_, errno);
    return {};
  }

  Result<void> Close() override {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) return IoError("cannot close", path_, errno);
    return {};
  }

 private:
  int descriptor_;
  std::string path_;
};

class PosixEnv final : public FileEnv {
 public:
  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return IoError("cannot open the file", path, errno);
    struct stat s{};
    if (fstat(descriptor, &s) == 0 && S_ISDIR(s.st_mode)) {
      close(descriptor);
      return IoError("cannot read a folder as a file", path, EISDIR);
    }
    return std::unique_ptr<ReadableFile>(new PosixReadableFile(descriptor, path));
  }

  Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path) override {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return IoError("cannot create the file", path, errno);
    return std::unique_ptr<WritableFile>(new PosixWritableFile(descriptor, path));
  }

  Result<FileIdentity> Identity(const std::string& path) override {
    struct stat s{};
    if (stat(path.c_str(), &s) != 0) return IoError("cannot examine the file", path, errno);
    return IdentityOf(s);
  }

  Result<void> Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) return IoError("cannot rename to", to, errno);
    return {};
  }

  Result<void> Remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0) return IoError("cannot remove", path, errno);
    return {};
  }

  Result<void> RemoveFolder(const std::string& folder) override {
    if (rmdir(folder.c_str()) != 0) return IoError("cannot remove the folder", folder, errno);
    return {};
  }

  Result<void> SyncFolder(const std::string& folder) override {
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return IoError("cannot open the folder", folder, errno);
    const int status = fsync(descriptor);
    const int error = errno;
    close(descriptor);
    // Some file systems refuse to sync a folder; the rename itself was already done.
    if (status != 0 && error != EINVAL && error != ENOTSUP) {
      return IoError("cannot sync the folder", folder, error);
    }
    return {};
  }

  Result<void> CreateFolders(const std::string& folder) override {
    namespace fs = std::filesystem;
    std::error_code code;
    std::vector<std::string> created;
    fs::path path = fs::absolute(folder, code).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    for (; !code && !fs::exists(path, code) && path.has_relative_path();
         path = path.parent_path()) {
      created.push_back(path.string());
    }
    fs::create_directories(folder, code);
    if (code) return IoError("cannot create the folder", folder, code.value());
    // A folder outlives a power cut only once the one above it is on disk.
    for (const std::string& path : created) TALLELE_TRY(SyncFolder(FolderOf(path)));
    return {};
  }
};

class FaultWritableFile final : public WritableFile {
 public:
  FaultWritableFile(std::unique_ptr<WritableFile> base, std::string path, FaultFileEnv& env)
      : base_(std::move(base)), path_(std::move(path)), env_(env) {}

  Result<void> Append(std::span<const std::byte> bytes) override {
    if (!env_.CountAppend()) return base_->Append(bytes);
    // A full disk takes a part before it refuses.
    TALLELE_TRY(base_->Append(bytes.first(bytes.size() / 2)));
    return IoError("cannot write", path_, ENOSPC);
  }
  Result<void> Sync() override {
    return env_.CountSync() ? Result<void>(IoError("cannot sync to disk", path_, EIO))
                            : base_->Sync();
  }
  Result<void> Close() override { return base_->Close(); }

 private:
  std::unique_ptr<WritableFile> base_;
  std::string path_;
  FaultFileEnv& env_;
};

}  // namespace

Result<void> ReadableFile::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    TALLELE_ASSIGN(const size_t got, ReadSome(offset + done, out.subspan(done)));
    if (got == 0) {
      Error error =
          InputError("the file ends too early", path() + ", byte " + std::to_string(offset + done),
                     "The file is cut short; copy or make it again.");
      error.expected = std::to_string(out.size() - done) + " more bytes";
      error.found = "the end of the file";
      return error;
    }
    done += got;
  }
  return {};
}

FileEnv& PosixFileEnv() {
  static PosixEnv env;
  return env;
}

Result<std::unique_ptr<ReadableFile>> ForwardingFileEnv::OpenToRead(const std::string& path) {
  return base_.OpenToRead(path);
}
Result<std::unique_ptr<WritableFile>> ForwardingFileEnv::OpenToWrite(const std::string& path) {
  return base_.OpenToWrite(path);
}
Result<FileIdentity> ForwardingFileEnv::Identity(const std::string& path) {
  return base_.Identity(path);
}
Result<void> ForwardingFileEnv::Rename(const std::string& from, const std::string& to) {
  return base_.Rename(from, to);
}
Result<void> ForwardingFileEnv::Remove(const std::string& path) { return base_.Remove(path); }
Result<void> ForwardingFileEnv::RemoveFolder(const std::string& folder) {
  return base_.RemoveFolder(folder);
}
Result<void> ForwardingFileEnv::SyncFolder(const std::string& folder) {
  return base_.SyncFolder(folder);
}
Result<void> ForwardingFileEnv::CreateFolders(const std::string& folder) {
  return base_.CreateFolders(folder);
}

Result<std::unique_ptr<WritableFile>> FaultFileEnv::OpenToWrite(const std::string& path) {
  TALLELE_ASSIGN(auto file, base().OpenToWrite(path));
  return std::unique_ptr<WritableFile>(new FaultWritableFile(std::move(file), path, *this));
}
Result<void> FaultFileEnv::Rename(const std::string& from, const std::string& to) {
  if (Count(renames_, fail_rename_from)) return IoError("cannot rename to", to, EIO);
  return base().Rename(from, to);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace tallele

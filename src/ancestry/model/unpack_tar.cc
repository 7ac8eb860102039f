#include <zlib.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>

#include "ancestry/model/tar_archive.h"
#include "base/atomic_file.h"
#include "base/file_env.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzHandle = std::unique_ptr<gzFile_s, CloseGz>;

// Writes the entries of an archive below a folder.
class FolderSink {
 public:
  explicit FolderSink(std::string root) : root_(std::move(root)) {}

  Result<void> MakeFolder(const std::string& name) {
    return PosixFileEnv().CreateFolders(root_ + "/" + name);
  }
  Result<void> BeginFile(const std::string& name) {
    const std::string path = root_ + "/" + name;
    TALLELE_TRY(PosixFileEnv().CreateFolders(FolderOf(path)));
    TALLELE_ASSIGN(file_, PosixFileEnv().OpenToWrite(path));
    return {};
  }
  Result<void> Append(std::string_view bytes) {
    return file_->Append(std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
  Result<void> EndFile() {
    TALLELE_TRY(file_->Sync());
    TALLELE_TRY(file_->Close());
    file_.reset();
    return {};
  }

 private:
  std::string root_;
  std::unique_ptr<WritableFile> file_;
};

Result<size_t> ReadGz(gzFile file, const std::string& archive, char* out, size_t size) {
  const int got = gzread(file, out, static_cast<unsigned>(size));
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  if (got >= 0 && code != Z_BUF_ERROR) return static_cast<size_t>(got);
  Error error = InputError("the compressed archive is damaged or ends early", archive,
                           "Get the archive again.");
  error.found = text;
  return error;
}

// The one folder that holds everything and has the wanted name, or `unpacked` itself.
fs::path Outermost(const fs::path& unpacked, const fs::path& name) {
  std::error_code code;
  const auto count = std::distance(fs::directory_iterator(unpacked, code), {});
  return count == 1 && fs::is_directory(unpacked / name, code) ? unpacked / name : unpacked;
}

Result<void> Publish(const std::string& unpacked, const std::string& folder,
                     const std::string& stamp) {
  const std::string root = Outermost(unpacked, fs::path(folder).filename()).string();
  TALLELE_TRY(WriteFileAtomically(root + "/.unpacked-from", stamp));
  std::error_code code;
  fs::remove_all(folder, code);
  if (code) return IoError("the folder cannot be replaced", folder, code.value());
  return PosixFileEnv().Rename(root, folder);
}

Error Stopped(const std::string& archive) {
  Error error = InputError("stopped while unpacking; nothing of it is kept", archive);
  error.kind = ErrorKind::kInterrupted;
  return error;
}

}  // namespace

Result<void> UnpackTarGz(const std::string& archive, const std::string& folder,
                         const std::string& stamp, EventSink& sink, const CancelToken& cancel) {
  TALLELE_ASSIGN(const FileIdentity identity, PosixFileEnv().Identity(archive));
  const GzHandle file(gzopen(archive.c_str(), "rb"));
  if (file == nullptr) return IoError("the archive cannot be opened", archive, errno);
  gzbuffer(file.get(), 1 << 18);
  const std::string temporary = folder + ".unpacking";
  std::error_code code;
  fs::remove_all(temporary, code);
  TALLELE_TRY(PosixFileEnv().CreateFolders(temporary));
  FolderSink out(temporary);
  const auto source = [&](char* bytes, size_t size) -> Result<size_t> {
    if (cancel.cancelled()) return Stopped(archive);
    sink.Progress({"packed bytes", gzoffset(file.get()), static_cast<int64_t>(identity.size), 0});
    return ReadGz(file.get(), archive, bytes, size);
  };
  const TarSink entries = {
      [&out](const std::string& name) { return out.MakeFolder(name); },
      [&out](const std::string& name, uint64_t) { return out.BeginFile(name); },
      [&out](std::string_view bytes) { return out.Append(bytes); },
      [&out] { return out.EndFile(); }};
  Result<void> done = ReadTar(source, archive, entries);
  if (done) done = Publish(temporary, folder, stamp);
  fs::remove_all(temporary, code);
  return done;
}

}  // namespace tallele

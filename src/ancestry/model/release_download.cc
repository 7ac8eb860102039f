#include "ancestry/model/release_download.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/file_env.h"
#include "base/format_number.h"
#include "base/hashing.h"

namespace tallele {
namespace {

constexpr long kConnectSeconds = 30;
constexpr long kSilentSeconds = 60;  // an attempt without a byte for so long is broken off
constexpr char kByHand[] =
    "Where this machine has no internet, download the file elsewhere and give its folder with "
    "--from.";

Error Interrupted(const std::string& url) {
  Error error = InputError("the download was stopped", url,
                           "Run the command again: it continues where it stopped.");
  error.kind = ErrorKind::kInterrupted;
  return error;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

uint64_t SizeOf(const std::string& path) {
  const auto identity = PosixFileEnv().Identity(path);
  return identity ? identity->size : 0;
}

// One HTTP request that adds to the partial file.
class Attempt {
 public:
  Attempt(const DownloadRequest& request, EventSink& sink, const CancelToken& cancel)
      : request_(request), part_(request.path + ".part"), sink_(sink), cancel_(cancel) {}

  enum class Outcome {
    kComplete,   // the server sent all that it has
    kBroken,     // the connection broke off or the server asks to come later
    kNotRanged,  // the server cannot continue at our byte: the partial file is useless
  };

  Result<Outcome> Run() {
    begin_ = SizeOf(part_);
    curl_.reset(curl_easy_init());
    if (curl_ == nullptr) return InternalError("libcurl cannot be initialised");
    SetOptions();
    const CURLcode code = curl_easy_perform(curl_.get());
    if (failure_) return *failure_;
    TALLELE_TRY(CloseFileOnDisk());
    if (cancel_.cancelled()) return Interrupted(request_.url);
    return Judge(code);
  }

  // Text of what broke the attempt.
  const std::string& found() const { return found_; }
  bool continued() const { return begin_ > 0 && status_ == 206; }

 private:
  struct Cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  void SetOptions() {
    CURL* curl = curl_.get();
    curl_easy_setopt(curl, CURLOPT_URL, request_.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "tallele");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message_);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Attempt::TakeBytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Attempt::TakeProgress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
    // As the curl program does.
    if (const char* bundle = std::getenv("CURL_CA_BUNDLE")) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
    }
    // Not CURLOPT_RESUME_FROM: that turns a server without ranges into an error of its own.
    if (begin_ > 0) {
      curl_easy_setopt(curl, CURLOPT_RANGE, fmt::format("{}-", begin_).c_str());
    }
  }

  static size_t TakeBytes(const char* bytes, size_t, size_t size, void* self) {
    return static_cast<Attempt*>(self)->Take(std::string_view(bytes, size)) ? size : 0;
  }

  bool Take(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206) return true;  // the page of an error: not kept
    if (file_ == nullptr) {
      // 200 to a range request: the server sends the whole file.
      file_.reset(std::fopen(part_.c_str(), status == 206 ? "ab" : "wb"));
      if (file_ == nullptr) {
        failure_ = IoError("the file cannot be written", part_, errno);
        return false;
      }
      if (status == 200 && begin_ > 0) {
        sink_.Message(Severity::kInfo,
                      "The server does not continue downloads: beginning again at the first byte.");
      }
    }
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return true;
    failure_ = IoError("the file cannot be written", part_, errno);
    return false;
  }

  static int TakeProgress(void* self, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
    auto& attempt = *static_cast<Attempt*>(self);
    if (attempt.cancel_.cancelled()) return 1;
    if (total <= 0) return 0;
    long status = 0;
    curl_easy_getinfo(attempt.curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    const int64_t begin = status == 206 ? static_cast<int64_t>(attempt.begin_) : 0;
    attempt.sink_.Progress({"bytes", begin + done, begin + total, 0});
    return 0;
  }

  Result<void> CloseFileOnDisk() {
    if (file_ == nullptr) return {};
    const bool flushed = std::fflush(file_.get()) == 0 && fsync(fileno(file_.get())) == 0;
    if (!flushed) return IoError("the file cannot be written", part_, errno);
    file_.reset();
    return {};
  }

  Result<Outcome> Judge(CURLcode code) {
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status_);
    if (status_ == 416 && begin_ > 0) return Outcome::kNotRanged;
    if (code == CURLE_OK && (status_ == 200 || status_ == 206)) {
      found_ = "an empty answer";
      if (SizeOf(part_) == 0) return ServerError("the file cannot be downloaded", kByHand);
      return Outcome::kComplete;
    }
    if (code == CURLE_OK) return JudgeStatus();
    found_ = message_[0] != '\0' ? message_ : curl_easy_strerror(code);
    switch (code) {
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_GOT_NOTHING:
      case CURLE_OPERATION_TIMEDOUT:
      case CURLE_HTTP2:
      case CURLE_HTTP2_STREAM:
        return Outcome::kBroken;
      default:
        return ServerError("the file cannot be downloaded", kByHand);
    }
  }

  Result<Outcome> JudgeStatus() {
    found_ = fmt::format("HTTP status {}", status_);
    if (status_ == 404 || status_ == 410) {
      return ServerError("the server does not have the file",
                         "Check --url: it is the address before the file's name.");
    }
    if (status_ == 401 || status_ == 403) {
      return ServerError("the server does not give the file out", kByHand);
    }
    if (status_ == 429 || status_ >= 500) return Outcome::kBroken;
    return ServerError("the server's answer is no file", kByHand);
  }

  Error ServerError(std::string what, std::string advice) const {
    Error error = InputError(std::move(what), request_.url, std::move(advice));
    error.found = found_;
    return error;
  }

  const DownloadRequest& request_;
  std::string part_;
  EventSink& sink_;
  const CancelToken& cancel_;
  std::unique_ptr<CURL, Cleanup> curl_;
  FileHandle file_;
  std::optional<Error> failure_;
  std::string found_;
  char message_[CURL_ERROR_SIZE] = "";
  uint64_t begin_ = 0;
  long status_ = 0;
};

// 1, 2, 4 ... seconds; false when the caller wants to stop.
bool Wait(int attempt, const CancelToken& cancel) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1 << (attempt - 1));
  while (std::chrono::steady_clock::now() < end) {
    if (cancel.cancelled()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

Result<void> RemovePart(const std::string& part) {
  return PosixFileEnv().Identity(part) ? PosixFileEnv().Remove(part) : Result<void>();
}

// Gathers the whole file in the partial file. True when it was pieced together from more than one
// answer of the server.
Result<bool> FetchAll(const DownloadRequest& request, EventSink& sink, const CancelToken& cancel) {
  const std::string part = request.path + ".part";
  bool pieced = false;
  int fruitless = 0;
  uint64_t most = SizeOf(part);
  if (most > 0) {
    sink.Message(Severity::kInfo, fmt::format("Continuing {} after {} bytes.", request.url,
                                              FormatThousands(static_cast<int64_t>(most))));
  }
  while (true) {
    Attempt attempt(request, sink, cancel);
    TALLELE_ASSIGN(const Attempt::Outcome outcome, attempt.Run());
    pieced = attempt.continued();
    if (outcome == Attempt::Outcome::kComplete) return pieced;
    if (outcome == Attempt::Outcome::kNotRanged) {
      // Nothing lies beyond our bytes: they are all, or of another file. The digest tells.
      return true;
    }
    const uint64_t size = SizeOf(part);
    fruitless = size > most ? 0 : fruitless + 1;
    most = std::max(most, size);
    if (fruitless > request.retries) {
      Error error = InputError("the download broke off", request.url,
                               "Run the command again: it continues where it broke off.");
      error.found = fmt::format("{} after {} bytes", attempt.found(),
                                FormatThousands(static_cast<int64_t>(size)));
      return error;
    }
    sink.Message(Severity::kInfo,
                 fmt::format("The download broke off ({}) after {} bytes; trying "
                             "again.",
                             attempt.found(), FormatThousands(static_cast<int64_t>(size))));
    if (fruitless > 0 && !Wait(fruitless, cancel)) return Interrupted(request.url);
  }
}

}  // namespace

Result<std::string> Md5OfFile(const std::string& path, const CancelToken& cancel) {
  TALLELE_ASSIGN(const auto file, PosixFileEnv().OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  Md5 digest;
  std::vector<char> buffer(size_t{1} << 20);
  for (uint64_t at = 0; at < identity.size;) {
    if (cancel.cancelled()) return Interrupted(path);
    const size_t size = static_cast<size_t>(std::min<uint64_t>(buffer.size(), identity.size - at));
    TALLELE_TRY(file->ReadAt(at, std::as_writable_bytes(std::span(buffer.data(), size))));
    digest.Update(std::string_view(buffer.data(), size));
    at += size;
  }
  return digest.HexDigest();
}

Result<void> CheckMd5(const std::string& path, const std::string& expected,
                      const CancelToken& cancel) {
  TALLELE_ASSIGN(const std::string found, Md5OfFile(path, cancel));
  if (found == expected) return {};
  Error error = InputError("the file has another MD5 digest than it should have", path,
                           "It is damaged or of another release: remove it and get it again, or "
                           "give the digest of the release's page with --md5 FILE=HEX.");
  error.found = found;
  error.expected = expected;
  return error;
}

Result<void> Download(const DownloadRequest& request, EventSink& sink, const CancelToken& cancel) {
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted != CURLE_OK) return InternalError("libcurl cannot be initialised");
  if (PosixFileEnv().Identity(request.path)) {
    TALLELE_TRY(CheckMd5(request.path, request.md5, cancel));
    sink.Message(Severity::kInfo, request.path + " is there already, with the right digest.");
    return {};
  }
  TALLELE_TRY(PosixFileEnv().CreateFolders(FolderOf(request.path)));
  const std::string part = request.path + ".part";
  while (true) {
    TALLELE_ASSIGN(const bool pieced, FetchAll(request, sink, cancel));
    TALLELE_ASSIGN(const std::string found, Md5OfFile(part, cancel));
    if (found == request.md5) return PosixFileEnv().Rename(part, request.path);
    TALLELE_TRY(RemovePart(part));
    if (!pieced) {
      Error error =
          InputError("what was downloaded has another MD5 digest than it should have", request.url,
                     "Nothing of it was kept. Try again; if it stays so, compare with "
                     "the release's page and give --md5 FILE=HEX.");
      error.found = found;
      error.expected = request.md5;
      return error;
    }
    sink.Message(
        Severity::kWarning,
        "The continued download does not fit together: beginning again at the first byte.");
  }
}

}  // namespace tallele

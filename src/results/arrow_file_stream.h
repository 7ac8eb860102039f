#ifndef TALLELE_RESULTS_ARROW_FILE_STREAM_H_
#define TALLELE_RESULTS_ARROW_FILE_STREAM_H_

#include <arrow/io/interfaces.h>
#include <arrow/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/hashing.h"

namespace tallele {

// Lets Parquet write into our own atomic file and keeps the first error in our own words. For the
// files of results/ that include Arrow, whose headers cost ten seconds a translation unit.
class AtomicFileStream final : public arrow::io::OutputStream {
 public:
  explicit AtomicFileStream(AtomicFile& file) : file_(file) {}

  arrow::Status Write(const void* data, int64_t size) override {
    const auto bytes = static_cast<size_t>(size);
    digest_.Update(std::string_view(static_cast<const char*>(data), bytes));
    Result<void> written =
        file_.Append(std::span<const std::byte>(static_cast<const std::byte*>(data), bytes));
    position_ += size;
    if (written) return arrow::Status::OK();
    if (!error_) error_ = written.error();
    return arrow::Status::IOError(error_->what);
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }

  const std::optional<Error>& error() const { return error_; }
  // Of what was written.
  uint64_t num_bytes() const { return static_cast<uint64_t>(position_); }
  std::string HexDigest() { return digest_.HexDigest(); }

 private:
  AtomicFile& file_;
  Sha256 digest_;
  int64_t position_ = 0;
  bool closed_ = false;
  std::optional<Error> error_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_ARROW_FILE_STREAM_H_

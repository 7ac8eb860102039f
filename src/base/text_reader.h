#ifndef TALLELE_BASE_TEXT_READER_H_
#define TALLELE_BASE_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

struct LineReaderOptions {
  // A longer line is an input error: a binary file given by mistake must not fill the memory.
  std::size_t max_line_bytes = std::size_t{256} << 20;
};

// Lines of a text file, plain or gzip (also many members, as bgzip writes), told apart by the
// first bytes and not by the name. A UTF-8 byte order mark at the start and a CR before the LF
// are left out; a last line without LF counts. Memory: one line plus 256 KiB. Not thread-safe.
class LineReader {
 public:
  static Result<std::unique_ptr<LineReader>> Open(FileEnv& env, const std::string& path,
                                                  LineReaderOptions options = {});
  static Result<std::unique_ptr<LineReader>> Open(const std::string& path,
                                                  LineReaderOptions options = {});
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end of the file. `*line` has no line end and is valid until the next call.
  // Errors: truncated or damaged gzip (file and byte), a line that is too long, a failed read.
  Result<bool> Next(std::string_view* line);

  // Number of the line that `Next` gave last, from 1; 0 before the first.
  std::int64_t line_number() const { return line_number_; }
  const std::string& path() const;
  const FileIdentity& identity() const;
  bool compressed() const;
  // "<path>, line <n>", for `Error::where`.
  std::string Where() const;

 private:
  class ByteSource;

  LineReader(std::unique_ptr<ByteSource> source, LineReaderOptions options);
  Result<bool> FillMore();
  std::string_view TakeLine(std::size_t line_end, std::size_t next_begin);

  std::unique_ptr<ByteSource> source_;
  LineReaderOptions options_;
  std::string buffer_;
  std::size_t begin_ = 0;  // first byte of `buffer_` that was not given out
  bool at_end_ = false;
  std::int64_t line_number_ = 0;
};

}  // namespace tallele

#endif  // TALLELE_BASE_TEXT_READER_H_

#ifndef TALLELE_BASE_TEXT_READER_H_
#define TALLELE_BASE_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// Lines of a text file, plain or gzip (told by its first bytes, not by its name). A byte order
// mark at the start and a carriage return at the end of a line are dropped.
class LineReader {
 public:
  static Result<std::unique_ptr<LineReader>> Open(const std::string& path,
                                                  FileEnv& env = PosixFileEnv());
  ~LineReader();

  // The next line without its end, valid until the next call; false at the end of the file.
  // Errors: reading fails, the gzip stream is damaged or cut, a line of more than 256 MiB.
  Result<bool> Next(std::string_view* line);

  int64_t line_number() const { return line_number_; }  // of the last line, 1-based
  const std::string& path() const { return path_; }
  // "path, line 12", for errors.
  std::string Where() const;

 private:
  class Gunzip;

  explicit LineReader(std::unique_ptr<ReadableFile> file);
  Result<void> TellForm();
  Result<bool> Fill();

  std::unique_ptr<ReadableFile> file_;
  std::string path_;
  uint64_t offset_ = 0;             // of the next stored byte
  std::unique_ptr<Gunzip> gunzip_;  // of a compressed file
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// Splits at every run of blanks and tabs; no empty fields. Appends nothing to `fields` before
// clearing it.
void SplitBlanks(std::string_view line, std::vector<std::string_view>& fields);

// Splits at every tab; blanks around a field are dropped, empty fields are kept.
void SplitTabs(std::string_view line, std::vector<std::string_view>& fields);

// `text` without blanks and tabs at both ends.
std::string_view Trim(std::string_view text);

}  // namespace tallele

#endif  // TALLELE_BASE_TEXT_READER_H_

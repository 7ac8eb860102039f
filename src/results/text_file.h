#ifndef TALLELE_RESULTS_TEXT_FILE_H_
#define TALLELE_RESULTS_TEXT_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/result.h"

namespace tallele {

// A text file, plain or gzip, that appears under its name only at `Commit`.
//
// Gzip output is a row of members of about 1 MiB of text each, which every gzip reader takes as
// one file. The bytes depend on the text alone: no time stamp, no name.
class TextFile {
 public:
  static Result<std::unique_ptr<TextFile>> Create(const std::string& path, bool gzip,
                                                  FileEnv& env = PosixFileEnv());
  ~TextFile();

  Result<void> Append(std::string_view text);
  Result<void> Commit();

  const std::string& path() const { return file_->path(); }

 private:
  struct Compressor;

  TextFile(std::unique_ptr<AtomicFile> file, std::unique_ptr<Compressor> compressor);
  Result<void> WriteMember();

  std::unique_ptr<AtomicFile> file_;
  std::unique_ptr<Compressor> compressor_;  // none for plain text
  std::string pending_;                     // text of the next gzip member
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_TEXT_FILE_H_

#ifndef TALLELE_RESULTS_KEPT_TEXT_H_
#define TALLELE_RESULTS_KEPT_TEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/file_env.h"
#include "base/hashing.h"
#include "base/result.h"
#include "genotype/variant_index.h"

namespace tallele {

// The lines of one part of the grid as they stand in a text file, in a file of their own. A run
// keeps them beside its parts until it is complete, where parts do not hold all that its text says
// (--no-split, --htp, 32-bit statistics): a resumed run takes them up again.
struct KeptText {
  std::string layout;  // of the text, in the words of the run
  std::string file;    // name inside the trait's text/ folder
  uint64_t num_bytes = 0;
  std::string sha256;
  bool operator==(const KeptText&) const = default;
};

// "text_000000000_000065535.txt".
std::string KeptTextName(VariantRange part);

// Writes one file after the other, each hidden until it is complete and on disk.
class KeptTextWriter {
 public:
  // Makes the folder. `env` must outlive the writer.
  static Result<std::unique_ptr<KeptTextWriter>> Create(const std::string& folder,
                                                        std::string layout, FileEnv& env);

  // Lines of `part`; all of one part come before those of the next.
  Result<void> Append(VariantRange part, std::string_view lines);
  // Publishes the lines of the part, none included.
  Result<KeptText> Finish(VariantRange part);

 private:
  KeptTextWriter(std::string folder, std::string layout, FileEnv& env)
      : folder_(std::move(folder)), layout_(std::move(layout)), env_(env) {}
  Result<void> Open(VariantRange part);

  const std::string folder_;
  const std::string layout_;
  FileEnv& env_;
  std::unique_ptr<AtomicFile> file_;  // null: no part is open
  VariantRange part_;
  Sha256 hash_;
  uint64_t num_bytes_ = 0;
};

// The lines, checked against what is recorded: presence, size and SHA-256.
Result<std::string> ReadKeptText(const std::string& folder, const KeptText& text,
                                 FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_KEPT_TEXT_H_

#ifndef TALLELE_ANCESTRY_MODEL_TAR_ARCHIVE_H_
#define TALLELE_ANCESTRY_MODEL_TAR_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// What a tar archive is read into, entry by entry.
struct TarSink {
  std::function<Result<void>(const std::string& name)> folder;
  // Begins a file; its bytes follow in pieces, then `end_file`.
  std::function<Result<void>(const std::string& name, uint64_t size)> begin_file;
  std::function<Result<void>(std::string_view)> bytes;
  std::function<Result<void>()> end_file;
};

// Gives up to `size` of the next bytes; fewer only at the end.
using ByteSource = std::function<Result<size_t>(char* out, size_t size)>;

// Reads a tar archive (POSIX ustar and pax, GNU long names; IEEE Std 1003.1 "pax"). Folders and
// plain files only: links and devices, absolute names, names with "..", wrong header checksums and
// an archive that ends early are errors that name the entry. Names are given without a leading
// "./". `where` names the archive in errors.
Result<void> ReadTar(const ByteSource& source, const std::string& where, const TarSink& sink);

// Unpacks a `.tar.gz` (or plain `.tar`) into the folder `folder`, which is replaced. It appears
// under its name only when everything is in it; what a broken attempt left is removed. When all of
// the archive lies in one folder of the same name, that one becomes `folder`. `stamp` is the
// text of a file `.unpacked-from` in it.
Result<void> UnpackTarGz(const std::string& archive, const std::string& folder,
                         const std::string& stamp, EventSink& sink, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_TAR_ARCHIVE_H_

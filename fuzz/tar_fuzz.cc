// Takes the bytes as a tar archive. No name may lead out of the folder, and a file gets exactly
// the bytes that its header promises.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ancestry/model/tar_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t at = 0;
  const auto source = [&](char* out, size_t wanted) -> tallele::Result<size_t> {
    const size_t got = std::min(wanted, size - at);
    if (got > 0) std::memcpy(out, data + at, got);
    at += got;
    return got;
  };
  const auto check_name = [](const std::string& name) {
    const std::string framed = "/" + name + "/";
    if (name.empty() || name.front() == '/' || framed.find("/../") != std::string::npos) abort();
    return tallele::Result<void>();
  };
  uint64_t left = 0;
  const tallele::TarSink sink = {check_name,
                                 [&](const std::string& name, uint64_t bytes) {
                                   left = bytes;
                                   return check_name(name);
                                 },
                                 [&](std::string_view piece) {
                                   if (piece.size() > left) abort();
                                   left -= piece.size();
                                   return tallele::Result<void>();
                                 },
                                 [&] {
                                   if (left != 0) abort();
                                   return tallele::Result<void>();
                                 }};
  (void)tallele::ReadTar(source, "input", sink).ok();
  return 0;
}

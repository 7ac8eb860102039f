#ifndef TALLELE_FUZZ_INPUT_FILE_H_
#define TALLELE_FUZZ_INPUT_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tallele {

// The fuzzer's bytes as a file in memory, under a path that any reader can open.
class InputFile {
 public:
  InputFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("input", 0)) {
    while (size > 0) {
      const ssize_t put = write(descriptor_, data, size);
      if (put <= 0) abort();
      data += put;
      size -= static_cast<size_t>(put);
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace tallele

#endif  // TALLELE_FUZZ_INPUT_FILE_H_

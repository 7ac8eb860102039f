// Takes the bytes as a NumPy array of every kind that is read.
#include "ancestry/model/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)tallele::ReadNpyDoubles(bytes, "input").ok();
  (void)tallele::ReadNpyDoublesRow(bytes, "input", 0).ok();
  (void)tallele::ReadNpyTexts(bytes, "input").ok();
  (void)tallele::ReadNpyIntegers(bytes, "input").ok();
  return 0;
}

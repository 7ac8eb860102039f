// Takes the bytes as a PyTorch checkpoint.
#include "ancestry/model/checkpoint.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tallele::InputFile file(data, size);
  (void)tallele::ReadCheckpoint(file.path()).ok();
  return 0;
}

// Reads the bytes as a configuration file.
#include "config/option_layer.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tallele::InputFile file(data, size);
  (void)tallele::ReadTomlLayer(file.path()).ok();
  return 0;
}

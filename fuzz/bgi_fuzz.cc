// Takes the bytes as the index of a small BGEN file.
#include "fuzz/input_file.h"
#include "genotype/bgen/bgen_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tallele::InputFile file(data, size);
  tallele::BgenOptions options;
  options.bgi = file.path();
  (void)tallele::OpenBgen(TALLELE_FUZZ_BGEN, options).ok();
  return 0;
}

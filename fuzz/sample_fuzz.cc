// Reads the bytes as an Oxford sample file and as a list of people.
#include "cohort/sample_file.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tallele::InputFile file(data, size);
  (void)tallele::ReadOxfordSamples(file.path(), 2).ok();
  (void)tallele::ReadPeopleList(file.path()).ok();
  return 0;
}

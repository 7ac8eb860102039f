// Reads the bytes as the LOCO file of a trait, all chromosomes.
#include <stdlib.h>

#include <fstream>

#include "cohort/loco_predictions.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tallele;
  const InputFile file(data, size);
  const std::string list_text = "T " + file.path() + "\n";
  const InputFile list(reinterpret_cast<const uint8_t*>(list_text.data()), list_text.size());
  const std::vector<std::string> traits = {"T"}, keys = {"F_A", "F_B", "C_C"};
  NullEventSink events;
  auto loco = LocoPredictions::Open(list.path(), traits, keys, 22, events);
  if (!loco.ok()) return 0;
  for (int code = 1; code <= 23; ++code) {
    if ((*loco)->HasChromosome(0, code)) (void)(*loco)->Load(0, code).ok();
  }
  return 0;
}

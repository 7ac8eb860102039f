// Opens the bytes as a BGEN file and decodes every variant, for everyone and for every other
// person.
#include <vector>

#include "fuzz/input_file.h"
#include "genotype/bgen/bgen_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tallele;
  const InputFile file(data, size);
  auto source = OpenBgen(file.path());
  if (!source.ok()) return 0;
  const size_t people = (*source)->num_samples();
  if (people > 100000) return 0;
  SampleSelection half{people, std::vector<uint32_t>{}};
  for (uint32_t i = 0; i < people; i += 2) half.file_positions->push_back(i);
  for (const SampleSelection& selection : {SampleSelection{people, std::nullopt}, half}) {
    auto cursor = (*source)->OpenCursor(selection, CarrierPolicy{2}, SupportedCpuTargets().back());
    if (!cursor.ok()) return 0;
    VariantBlock block;
    for (size_t v = 0; v < (*source)->variants().size(); v += 3) {
      const size_t count = std::min<size_t>(3, (*source)->variants().size() - v);
      if (!(*cursor)->Read({v, count}).ok() || !(*cursor)->Decode(block).ok()) break;
    }
  }
  return 0;
}

// Opens the bytes as a PLINK fileset and decodes it. The input is the .bim, .fam and .bed file in
// this order, the first two each ended by a byte 0.
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "genotype/bed/bed_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tallele;
  static const std::string folder = [] {
    char name[] = "/tmp/bed-fuzz-XXXXXX";
    return std::string(mkdtemp(name));
  }();
  const uint8_t* end = data + size;
  for (const char* suffix : {".bim", ".fam", ".bed"}) {
    const uint8_t* stop = std::string(suffix) == ".bed" ? end : std::find(data, end, uint8_t{0});
    std::ofstream(folder + "/x" + suffix, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), stop - data);
    data = stop == end ? end : stop + 1;
  }
  auto source = OpenBed(folder + "/x", nullptr);
  if (!source.ok()) return 0;
  const size_t people = (*source)->num_samples();
  auto cursor =
      (*source)->OpenCursor({people, std::nullopt}, CarrierPolicy{2}, SupportedCpuTargets().back());
  if (!cursor.ok()) return 0;
  VariantBlock block;
  if (!(*cursor)->Read({0, (*source)->variants().size()}).ok()) return 0;
  (void)(*cursor)->Decode(block).ok();
  return 0;
}

// Reads the bytes as a list of variant identifiers, as a list of predictions, and its first line as
// a window and a region.
#include <string>
#include <string_view>

#include "cohort/loco_predictions.h"
#include "cohort/variant_selection.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tallele;
  const InputFile file(data, size);
  VariantIndex variants;
  VariantRecord record;
  record.chromosome = "1";
  record.id = "rs1";
  record.first_allele = "A";
  record.second_allele = "G";
  variants.Add(record);
  VariantSelectionRequest request;
  request.extract_files = {file.path()};
  (void)SelectVariants(request, variants).ok();
  NullEventSink events;
  const std::vector<std::string> traits = {"T"}, keys = {"F_A"};
  (void)LocoPredictions::Open(file.path(), traits, keys, 22, events).ok();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  (void)ParseVariantWindow(line, 22).ok();
  (void)ParseParRegion(line).ok();
  return 0;
}

// write_dataset <REGENIE text> <out prefix>: writes the rows of a REGENIE text file as the Parquet
// dataset and the text of a trait "T". The readers' test compares both with its input.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "results/parse_regenie_text.h"
#include "results/trait_output.h"

namespace tallele {
namespace {

Result<TraitFiles> WriteDataset(const ParsedRegenieText& parsed, const std::string& prefix) {
  OutputRequest request;
  request.prefix = prefix;
  request.regenie_text = true;
  request.gzip = true;
  TALLELE_ASSIGN(auto output, OpenTraitOutput(request, parsed.schema, 1, "T", parsed.variants));
  for (const VariantRange part : PartGrid(parsed.variants)) {
    const auto begin = parsed.table.rows.begin() + static_cast<std::ptrdiff_t>(part.first);
    const ResultTable rows{{begin, begin + static_cast<std::ptrdiff_t>(part.count)}, {}};
    // Chromosome "3" has no rows: its part must be readable all the same.
    if (parsed.variants[part.first].chromosome != "3") TALLELE_TRY(output->Append(rows));
    TALLELE_TRY(output->FinishPart(part));
  }
  return output->Finish();
}

}  // namespace
}  // namespace tallele

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream stream(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const auto parsed = tallele::ParseRegenieText(text);
  const auto files = tallele::WriteDataset(parsed, argv[2]);
  if (!files) {
    std::fprintf(stderr, "%s\n", files.error().Message().c_str());
    return 1;
  }
  std::printf("%s\n", files->parquet_directory.c_str());
  return 0;
}

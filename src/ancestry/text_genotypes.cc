#include "ancestry/text_genotypes.h"

#include <chrono>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text_reader.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr uint8_t kNoGenotype = 4;

uint8_t CodeOf(std::string_view cell) {
  if (cell == "0") return 0;
  if (cell == "1") return 1;
  if (cell == "2") return 2;
  if (cell == "NA" || cell == "./." || cell == "-1") return 3;
  return kNoGenotype;
}

// Where each name was first seen: columns of SNPs, lines of people.
using Places = std::unordered_map<std::string, int64_t>;

Result<void> AddSnp(const LineReader& reader, std::string_view name, int64_t column, Places& places,
                    std::vector<std::string>& names) {
  const auto [earlier, added] = places.try_emplace(std::string(name), column);
  if (!added) {
    return InputError(fmt::format("this SNP already stood in column {}", earlier->second),
                      fmt::format("{}, column {}", reader.Where(), column),
                      "Keep one column for each SNP.");
  }
  names.emplace_back(name);
  return {};
}

Result<void> AddPerson(const LineReader& reader, std::string_view name, Places& places,
                       std::vector<std::string>& names) {
  const auto [earlier, added] = places.try_emplace(std::string(name), reader.line_number());
  if (!added) {
    return InputError(fmt::format("this person already stood on line {}", earlier->second),
                      reader.Where(), "Keep one line for each person.");
  }
  names.emplace_back(name);
  return {};
}

Result<void> PackLine(const LineReader& reader, const std::vector<std::string_view>& cells,
                      size_t num_snps, std::span<uint8_t> row) {
  if (cells.size() != num_snps + 1) {
    Error error = InputError("wrong number of columns", reader.Where());
    error.found = fmt::format("{}", cells.size());
    error.expected = fmt::format("{} as in the header", num_snps + 1);
    return error;
  }
  std::fill(row.begin(), row.end(), uint8_t{0});
  for (size_t j = 0; j < num_snps; ++j) {
    const uint8_t code = CodeOf(cells[j + 1]);
    if (code == kNoGenotype) {
      Error error =
          InputError("this is no genotype", fmt::format("{}, column {}", reader.Where(), j + 2));
      error.found = "'" + std::string(cells[j + 1].substr(0, 40)) + "'";
      error.expected = "0, 1, 2, or NA, ./. or -1 for a missing call";
      return error;
    }
    row[j / 4] |= static_cast<uint8_t>(code << (2 * (j % 4)));
  }
  return {};
}

}  // namespace

Result<TextGenotypeNames> ReadTextGenotypeNames(const std::string& path) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path));
  std::string_view line;
  std::vector<std::string_view> cells;
  TALLELE_ASSIGN(const bool has_header, reader->Next(&line));
  if (has_header) SplitTabs(line, cells);
  if (cells.size() < 2) {
    return InputError("the table has no header with SNP names", path,
                      "Columns are separated by tabs.");
  }
  TextGenotypeNames names;
  Places seen;
  for (size_t c = 1; c < cells.size(); ++c) {
    TALLELE_TRY(AddSnp(*reader, cells[c], static_cast<int64_t>(c) + 1, seen, names.snps));
  }
  seen.clear();
  for (;;) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) break;
    if (Trim(line).empty()) continue;
    TALLELE_TRY(AddPerson(*reader, Trim(line.substr(0, line.find('\t'))), seen, names.samples));
  }
  if (names.samples.empty()) return InputError("the table has no people", path);
  return names;
}

Result<void> ReadTextGenotypes(const std::string& path, const TextGenotypeNames& names,
                               EventSink& events, const CancelToken& cancel,
                               const TextRowSink& sink) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path));
  std::string_view line;
  std::vector<std::string_view> cells;
  TALLELE_ASSIGN(bool more, reader->Next(&line));
  std::vector<uint8_t> row(PackedRowStride(names.snps.size()));
  const auto start = std::chrono::steady_clock::now();
  const size_t total = names.samples.size();
  for (size_t person = 0; person < total;) {
    if (cancel.cancelled()) {
      Error error;
      error.kind = ErrorKind::kInterrupted;
      error.what = "reading genotypes was interrupted; nothing was written";
      return error;
    }
    TALLELE_ASSIGN(more, reader->Next(&line));
    if (!more) return InputError("the table became shorter while it was read", path);
    if (Trim(line).empty()) continue;
    SplitTabs(line, cells);
    TALLELE_TRY(PackLine(*reader, cells, names.snps.size(), row));
    if (cells[0] != names.samples[person]) {
      return InputError("the table changed while it was read", reader->Where());
    }
    TALLELE_TRY(sink(person++, row));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    events.Progress({"people", static_cast<int64_t>(person), static_cast<int64_t>(total),
                     elapsed.count(), person == total});
  }
  return {};
}

}  // namespace tallele

#include "ancestry/model/text_inputs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "base/text_reader.h"
#include "genotype/bed/plink_tables.h"

namespace tallele {
namespace {

constexpr uint64_t kLargestText = 16 << 20;

// Parts of "chr1:12345:A:G"; nothing when there are not exactly four.
bool SplitName(std::string_view name, ModelSnps& snps, bool counted_first) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t colon = name.find(':', begin);
    parts.push_back(name.substr(begin, colon - begin));
    if (colon == std::string_view::npos) break;
    begin = colon + 1;
  }
  if (parts.size() != 4 || parts[2].empty() || parts[3].empty()) return false;
  const auto position = ParseInteger(parts[1]);
  if (!position) return false;
  snps.chromosomes.emplace_back(parts[0]);
  snps.positions.push_back(*position);
  snps.counted_alleles.emplace_back(counted_first ? parts[2] : parts[3]);
  snps.other_alleles.emplace_back(counted_first ? parts[3] : parts[2]);
  return true;
}

std::string_view WithoutChr(std::string_view name) {
  return name.starts_with("chr") ? name.substr(3) : name;
}

// True when a listed name means the .bim's line: its identifier, or its chromosome and position.
bool SameSnp(std::string_view name, const VariantRecord& record) {
  if (name == record.id) return true;
  const std::string place = fmt::format("{}:{}", WithoutChr(record.chromosome), record.position);
  const std::string_view bare = WithoutChr(name);
  return bare.starts_with(place) && (bare.size() == place.size() || bare[place.size()] == ':');
}

Result<ModelSnps> SnpsOfBim(const std::string& path, const std::vector<std::string>& names,
                            const std::string& names_source) {
  TALLELE_ASSIGN(const VariantIndex bim, bed::ReadBim(path));
  ModelSnps snps;
  if (!names.empty() && names.size() != bim.size()) {
    Error error = InputError("the .bim does not have the SNPs of the model", path,
                             "Give the .bim of the training data.");
    error.found = fmt::format("{} lines", bim.size());
    error.expected = fmt::format("{} as in {}", names.size(), names_source);
    return error;
  }
  for (size_t j = 0; j < bim.size(); ++j) {
    const VariantRecord record = bim[j];
    if (!names.empty() && !SameSnp(names[j], record)) {
      Error error = InputError("the .bim is not in the model's order",
                               fmt::format("{}, line {}", path, j + 1),
                               "Give the .bim of the training data.");
      error.found = record.id;
      error.expected = names[j];
      return error;
    }
    snps.names.push_back(names.empty() ? std::string(record.id) : names[j]);
    snps.chromosomes.emplace_back(record.chromosome);
    snps.positions.push_back(record.position);
    snps.counted_alleles.emplace_back(record.first_allele);
    snps.other_alleles.emplace_back(record.second_allele);
  }
  return snps;
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path) {
  TALLELE_ASSIGN(const auto file, PosixFileEnv().OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  if (identity.size > kLargestText) {
    return InputError("the text file is larger than 16 MiB", path);
  }
  std::string text(identity.size, '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<std::vector<std::string>> ReadNameList(const std::string& path) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path));
  std::vector<std::string> names;
  for (;;) {
    std::string_view line;
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) break;
    const std::string_view name = Trim(line);
    if (!name.empty()) names.emplace_back(name);
  }
  if (names.empty()) return InputError("the list is empty", path);
  return names;
}

Result<std::vector<std::string>> ReadClassNames(const std::string& path) {
  if (!path.ends_with(".json")) return ReadNameList(path);
  TALLELE_ASSIGN(const std::string text, ReadTextFile(path));
  const auto mapping = nlohmann::json::parse(text, nullptr, false);
  if (!mapping.is_object()) return InputError("this is no JSON mapping of class names", path);
  std::vector<std::string> names(mapping.size());
  for (const auto& [name, index] : mapping.items()) {
    if (!index.is_number_integer() || index.get<int64_t>() < 0 ||
        index.get<int64_t>() >= static_cast<int64_t>(names.size()) ||
        !names[index.get<size_t>()].empty()) {
      return InputError("the class names do not map to 0, 1, 2 ...", path);
    }
    names[index.get<size_t>()] = name;
  }
  return names;
}

Result<ModelSnps> ReadModelSnps(const SnpSources& sources) {
  std::vector<std::string> names = sources.names;
  if (names.empty() && !sources.list.empty()) {
    TALLELE_ASSIGN(names, ReadNameList(sources.list));
  }
  if (!sources.bim.empty()) return SnpsOfBim(sources.bim, names, sources.list);
  if (names.empty()) {
    return UsageError("the model's SNPs are not known", "Give --bim, --snps or --dataset.");
  }
  ModelSnps snps;
  snps.names = std::move(names);
  if (!sources.counted_first && !sources.counted_last) return snps;
  for (const std::string& name : snps.names) {
    if (SplitName(name, snps, sources.counted_first)) continue;
    return InputError("a SNP name does not hold two alleles", name,
                      "Names must look like chr1:12345:A:G for --counted-allele; give --bim.");
  }
  return snps;
}

}  // namespace tallele

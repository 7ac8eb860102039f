#include "genotype/bed/plink_tables.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "base/file_env.h"
#include "base/parse_number.h"
#include "base/text_reader.h"

namespace tallele::bed {
namespace {

Error WrongFieldCount(const LineReader& reader, size_t found, const std::string& expected) {
  Error error = InputError("wrong number of columns", reader.Where());
  error.found = std::to_string(found);
  error.expected = expected;
  return error;
}

// Calls `use(fields)` for every line that is not blank.
template <typename Use>
Result<void> ForEachRow(LineReader& reader, Use use) {
  std::string_view line;
  std::vector<std::string_view> fields;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader.Next(&line));
    if (!more) return {};
    SplitBlanks(line, fields);
    if (fields.empty()) continue;
    TALLELE_TRY(use(fields));
  }
}

Result<VariantRecord> ParseBimRow(const LineReader& reader,
                                  const std::vector<std::string_view>& fields) {
  if (fields.size() != 6) {
    return WrongFieldCount(
        reader, fields.size(),
        "6 (chromosome, identifier, centimorgans, position, first allele, second allele)");
  }
  const std::optional<int64_t> position = ParseInteger(fields[3]);
  if (!position || *position < 0 || *position > std::numeric_limits<uint32_t>::max()) {
    Error error = InputError("the position in column 4 is not one", reader.Where());
    error.found = "'" + std::string(fields[3].substr(0, 40)) + "'";
    error.expected = "a whole number from 0 to 4294967295";
    return error;
  }
  VariantRecord record;
  record.chromosome = fields[0];
  record.id = fields[1];
  record.position = static_cast<uint32_t>(*position);
  record.first_allele = fields[4];
  record.second_allele = fields[5];
  return record;
}

Sex ParseSex(std::string_view token) {
  if (token == "1") return Sex::kMale;
  if (token == "2") return Sex::kFemale;
  return Sex::kUnknown;
}

}  // namespace

Result<VariantIndex> ReadBim(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const std::unique_ptr<LineReader> reader, LineReader::Open(path, env));
  VariantIndex index;
  TALLELE_TRY(ForEachRow(*reader, [&](const auto& fields) -> Result<void> {
    TALLELE_ASSIGN(const VariantRecord record, ParseBimRow(*reader, fields));
    index.Add(record);
    return {};
  }));
  if (index.size() == 0) return InputError("the file lists no variants", path);
  return index;
}

Result<std::vector<SampleIdentity>> ReadFam(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const std::unique_ptr<LineReader> reader, LineReader::Open(path, env));
  std::vector<SampleIdentity> people;
  TALLELE_TRY(ForEachRow(*reader, [&](const auto& fields) -> Result<void> {
    if (fields.size() < 5) {
      return WrongFieldCount(*reader, fields.size(), "at least 5 (FID, IID, father, mother, sex)");
    }
    people.push_back({std::string(fields[0]), std::string(fields[1]), ParseSex(fields[4])});
    return {};
  }));
  if (people.empty()) return InputError("the file lists no people", path);
  return people;
}

Result<std::string> FindCompanion(const std::string& prefix, const std::string& extension) {
  const std::string plain = prefix + extension;
  const std::string compressed = plain + ".gz";
  if (PosixFileEnv().Identity(plain)) return plain;
  if (PosixFileEnv().Identity(compressed)) return compressed;
  Error error;
  error.kind = ErrorKind::kIo;
  error.what = "a .bed file needs its " + extension + " file beside it";
  error.where = plain;
  error.found = "neither it nor " + compressed;
  return error;
}

}  // namespace tallele::bed

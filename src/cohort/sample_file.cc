#include "cohort/sample_file.h"

#include <algorithm>

#include "base/text_index.h"
#include "base/text_reader.h"
#include "cohort/sample_lookup.h"

namespace tallele {
namespace {

struct SampleColumns {
  size_t count = 0;
  size_t fid = 0;
  size_t iid = 0;
  std::optional<size_t> sex;
};

Error HeaderError(const LineReader& reader, std::string what, std::string found,
                  std::string expected) {
  Error error = InputError(std::move(what), reader.Where(),
                           "An Oxford sample file begins with a line of names (ID_1 ID_2 missing "
                           "...) and a line of types (0 0 0 ...).");
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

Result<SampleColumns> ReadSampleHeader(LineReader& reader) {
  std::string_view line;
  std::vector<std::string_view> fields;
  TALLELE_ASSIGN(const bool any, reader.Next(&line));
  if (!any) return HeaderError(reader, "the sample file is empty", "", "");
  SplitBlanks(line, fields);
  SampleColumns columns;
  columns.count = fields.size();
  const auto find = [&](std::string_view name) -> std::optional<size_t> {
    const auto at = std::find(fields.begin(), fields.end(), name);
    if (at == fields.end()) return std::nullopt;
    return static_cast<size_t>(at - fields.begin());
  };
  const auto first = find("ID_1") ? find("ID_1") : find("ID");
  if (!first) {
    return HeaderError(reader, "there is no column ID_1",
                       fields.empty() ? "" : std::string(fields[0]), "ID_1");
  }
  columns.fid = *first;
  columns.iid = find("ID_2").value_or(*first);
  columns.sex = find("sex") ? find("sex") : find("SEX");
  TALLELE_ASSIGN(const bool types, reader.Next(&line));
  SplitBlanks(line, fields);
  if (!types || fields.size() != columns.count || fields[columns.fid] != "0" ||
      fields[columns.iid] != "0") {
    return HeaderError(reader, "the second line does not give the types of the columns",
                       types ? std::string(line.substr(0, 60)) : "the end of the file",
                       std::to_string(columns.count) + " types, 0 for identifiers");
  }
  return columns;
}

Result<Sex> ParseSex(const LineReader& reader, std::string_view text) {
  if (text == "1") return Sex::kMale;
  if (text == "2") return Sex::kFemale;
  if (text == "0" || text == "NA" || text == "-9") return Sex::kUnknown;
  Error error = InputError("the sex is not one that is known", reader.Where() + ", column sex");
  error.found = std::string(text);
  error.expected = "1 (male), 2 (female), 0 or NA";
  return error;
}

}  // namespace

Result<std::vector<SampleIdentity>> ReadOxfordSamples(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path, env));
  TALLELE_ASSIGN(const SampleColumns columns, ReadSampleHeader(*reader));
  std::vector<SampleIdentity> samples;
  TextIndex line_of_person;
  std::string person;
  std::string_view line;
  std::vector<std::string_view> fields;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) break;
    SplitBlanks(line, fields);
    if (fields.empty()) continue;
    if (fields.size() != columns.count) {
      return HeaderError(*reader, "the line has another number of fields than the first",
                         std::to_string(fields.size()), std::to_string(columns.count));
    }
    SampleIdentity sample;
    sample.fid = fields[columns.fid];
    sample.iid = fields[columns.iid];
    if (columns.sex) {
      TALLELE_ASSIGN(sample.sex, ParseSex(*reader, fields[*columns.sex]));
    }
    person.assign(sample.fid).append(1, '\t').append(sample.iid);
    const auto earlier =
        line_of_person.Insert(person, static_cast<uint64_t>(reader->line_number()));
    if (earlier) {
      return InputError("this person already stood on line " + std::to_string(*earlier),
                        reader->Where(), "Everybody must have an identifier of their own.");
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

Result<void> CheckSampleCount(const std::string& path, size_t count, size_t expected_count) {
  if (count == expected_count) return {};
  Error error =
      InputError("the sample file names another number of people than the genotype file has", path,
                 "Give the sample file that belongs to the genotype file.");
  error.found = std::to_string(count);
  error.expected = std::to_string(expected_count);
  return error;
}

Result<std::vector<SampleIdentity>> ReadOxfordSamples(const std::string& path,
                                                      size_t expected_count, FileEnv& env) {
  TALLELE_ASSIGN(std::vector<SampleIdentity> samples, ReadOxfordSamples(path, env));
  TALLELE_TRY(CheckSampleCount(path, samples.size(), expected_count));
  return samples;
}

Result<std::vector<SampleIdentity>> ResolveSamples(const GenotypeSource& source,
                                                   const std::string& sample_path, FileEnv& env) {
  if (!sample_path.empty()) return ReadOxfordSamples(sample_path, source.num_samples(), env);
  if (!source.samples().empty() || source.num_samples() == 0) return source.samples();
  return InputError("the genotype file does not name its people", source.path(),
                    "Give the Oxford sample file that belongs to it with --sample.");
}

Result<std::vector<std::pair<std::string, std::string>>> ReadPeopleList(const std::string& path,
                                                                        FileEnv& env) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path, env));
  std::vector<std::pair<std::string, std::string>> people;
  std::string_view line;
  std::vector<std::string_view> fields;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) return people;
    SplitBlanks(line, fields);
    if (fields.empty()) continue;
    if (fields.size() < 2) {
      Error error = InputError("a line has one field alone", reader->Where(),
                               "Write FID and IID of each person.");
      error.found = std::string(fields[0]);
      error.expected = "FID IID";
      return error;
    }
    people.emplace_back(fields[0], fields[1]);
  }
}

}  // namespace tallele

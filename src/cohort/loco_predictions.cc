#include "cohort/loco_predictions.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "base/file_env.h"
#include "base/hashing.h"
#include "base/parse_number.h"
#include "base/text_index.h"
#include "base/text_reader.h"
#include "cohort/variant_selection.h"

namespace tallele {

// What a file holds, whoever reads it: its header and where each chromosome's row is.
struct LocoIndex {
  struct Row {
    int64_t line = 0;
    std::string digest;
  };
  FileIdentity identity;
  std::shared_ptr<const std::string> header;  // shared by files whose headers have the same bytes
  std::string header_digest;
  std::map<int, Row> rows;  // by chromosome code
  std::string fingerprint;
};

namespace {

constexpr uint32_t kAbsent = 0xffffffff;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// The next token of `line` from `at` on; empty at the end.
std::string_view NextToken(std::string_view line, size_t& at) {
  while (at < line.size() && IsBlank(line[at])) ++at;
  const size_t begin = at;
  while (at < line.size() && !IsBlank(line[at])) ++at;
  return line.substr(begin, at - begin);
}

// Which column of a file holds each person of the base set; shared by files whose headers have
// the same bytes.
struct Alignment {
  size_t num_columns = 0;
  std::vector<uint32_t> base_of_column;  // kAbsent: nobody of the base set
  size_t absent_people = 0;
};

class KeyIndex {
 public:
  explicit KeyIndex(std::span<const std::string> keys) {
    positions_.Reserve(keys.size());
    for (uint32_t i = 0; i < keys.size(); ++i) positions_.Insert(keys[i], i);
    for (uint32_t i = 0; i < keys.size(); ++i) {
      // A key X_X also answers to X (see SampleLookup).
      const std::string_view key = keys[i];
      const size_t half = key.size() / 2;
      if (key.size() % 2 == 1 && key[half] == '_' && key.substr(0, half) == key.substr(half + 1)) {
        positions_.Insert(key.substr(0, half), i);
      }
    }
  }

  uint32_t Find(std::string_view key) const {
    const auto position = positions_.Find(key);
    return position ? static_cast<uint32_t>(*position) : kAbsent;
  }

 private:
  TextIndex positions_;
};

// The header as a LOCO file begins with it, or an error.
Result<void> CheckHeader(std::string_view header, const std::string& where) {
  size_t at = 0;
  const std::string_view mark = NextToken(header, at);
  if (mark == "FID_IID") return {};
  Error error = InputError("the first line of a LOCO file must begin with FID_IID", where,
                           "Give the files that REGENIE's step 1 wrote.");
  error.found = std::string(mark.substr(0, 60));
  error.expected = "FID_IID";
  return error;
}

Result<std::shared_ptr<const Alignment>> Align(const std::string& path, std::string_view header,
                                               const KeyIndex& keys, size_t num_base) {
  size_t at = 0;
  NextToken(header, at);
  auto alignment = std::make_shared<Alignment>();
  std::vector<bool> found(num_base, false);
  size_t num_found = 0;
  for (std::string_view token; !(token = NextToken(header, at)).empty();) {
    const uint32_t person = keys.Find(token);
    alignment->base_of_column.push_back(person);
    if (person == kAbsent) continue;
    if (found[person]) {
      return InputError(
          "a person stands twice in the header",
          path + ", line 1, column " + std::to_string(alignment->base_of_column.size() + 1),
          "Make the predictions again.");
    }
    found[person] = true;
    ++num_found;
  }
  alignment->num_columns = alignment->base_of_column.size();
  alignment->absent_people = num_base - num_found;
  return std::shared_ptr<const Alignment>(std::move(alignment));
}

Result<void> IndexRows(LineReader& reader, int num_autosomes, LocoIndex& index) {
  Sha256 fingerprint;
  fingerprint.Update(index.header_digest);
  std::string_view line;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader.Next(&line));
    if (!more) break;
    size_t at = 0;
    const std::string_view label = NextToken(line, at);
    if (label.empty()) continue;
    const auto code = ChromosomeCode(label, num_autosomes);
    // Step 1 writes 23 rows whatever --nauto says; rows of unknown chromosomes are never asked
    // for.
    if (!code) continue;
    LocoIndex::Row row{reader.line_number(), Sha256Hex(line)};
    fingerprint.Update(std::to_string(*code) + ":" + row.digest + ";");
    const auto [earlier, added] = index.rows.try_emplace(*code, std::move(row));
    if (!added) {
      return InputError("chromosome " + std::string(label) + " already stood on line " +
                            std::to_string(earlier->second.line),
                        reader.Where(), "Make the predictions again.");
    }
  }
  index.fingerprint = fingerprint.HexDigest();
  if (!index.rows.empty()) return {};
  return InputError("the LOCO file has no row of a chromosome", reader.path(),
                    "Make the predictions again.");
}

// A file of a trait, and how it lines up with the people of this run.
struct LocoFile {
  std::string path;
  std::shared_ptr<const LocoIndex> index;
  std::shared_ptr<const Alignment> alignment;
};

// Relative paths are relative to the list's folder; where there is no such file, to the working
// folder, as REGENIE takes them.
std::string ResolvePath(const std::string& list, const std::string& path, FileEnv& env) {
  if (path.starts_with('/')) return path;
  const std::string beside = FolderOf(list) + "/" + path;
  return env.Identity(beside).ok() || !env.Identity(path).ok() ? beside : path;
}

// Path of each trait that the list names.
Result<std::map<std::string, std::string>> ReadPredList(const std::string& list, FileEnv& env) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(list, env));
  std::map<std::string, std::string> paths;
  std::map<std::string, int64_t> lines;
  std::string_view line;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) break;
    size_t at = 0;
    const std::string trait(NextToken(line, at));
    if (trait.empty()) continue;
    const std::string path(Trim(line.substr(at)));
    if (path.empty()) {
      Error error = InputError("a line of the prediction list has no path", reader->Where());
      error.found = trait;
      error.expected = "a trait and the path of its LOCO file";
      return error;
    }
    const auto [earlier, added] = lines.try_emplace(trait, reader->line_number());
    if (!added) {
      return InputError(
          "trait " + trait + " already stood on line " + std::to_string(earlier->second),
          reader->Where(), "Keep one line for each trait.");
    }
    paths[trait] = ResolvePath(list, path, env);
  }
  if (paths.empty()) return InputError("the prediction list is empty", list);
  return paths;
}

class IndexedLocoPredictions final : public LocoPredictions {
 public:
  IndexedLocoPredictions(std::vector<std::shared_ptr<const LocoFile>> files, size_t num_base,
                         FileEnv& env)
      : files_(std::move(files)), num_base_(num_base), env_(env) {}

  bool HasTrait(size_t trait) const override { return files_[trait] != nullptr; }
  bool HasChromosome(size_t trait, int code) const override {
    return HasTrait(trait) && files_[trait]->index->rows.contains(code);
  }
  std::string path(size_t trait) const override {
    return HasTrait(trait) ? files_[trait]->path : std::string();
  }
  std::string fingerprint(size_t trait) const override {
    return HasTrait(trait) ? files_[trait]->index->fingerprint : std::string();
  }

  Result<LocoVector> Load(size_t trait, int code) const override {
    if (!HasChromosome(trait, code)) {
      return InternalError("a prediction was asked for that the LOCO file does not have");
    }
    const LocoFile& file = *files_[trait];
    const LocoIndex::Row& row = file.index->rows.at(code);
    TALLELE_ASSIGN(const FileIdentity identity, env_.Identity(file.path));
    TALLELE_ASSIGN(const auto reader, LineReader::Open(file.path, env_));
    std::string_view line;
    while (reader->line_number() < row.line) {
      TALLELE_ASSIGN(const bool more, reader->Next(&line));
      if (!more) return Changed(file);
      // Timestamps are too coarse to tell a quick rewrite of the header alone.
      if (reader->line_number() == 1 && Sha256Hex(line) != file.index->header_digest) {
        return Changed(file);
      }
    }
    if (!(identity == file.index->identity) || Sha256Hex(line) != row.digest) return Changed(file);
    return ParseRow(*reader, line, *file.alignment);
  }

 private:
  static Error Changed(const LocoFile& file) {
    return InputError("the LOCO file changed while it was used", file.path,
                      "Run again when nothing writes to it.");
  }

  Result<LocoVector> ParseRow(const LineReader& reader, std::string_view line,
                              const Alignment& alignment) const {
    LocoVector vector;
    vector.values.assign(num_base_, std::numeric_limits<double>::quiet_NaN());
    vector.absent_people = alignment.absent_people;
    size_t at = 0;
    NextToken(line, at);
    size_t column = 0;
    for (std::string_view token; !(token = NextToken(line, at)).empty(); ++column) {
      if (column >= alignment.num_columns) continue;
      const uint32_t person = alignment.base_of_column[column];
      if (person == kAbsent) continue;
      if (token == "NA") {
        ++vector.missing_values;
        continue;
      }
      const NumberOutcome outcome = ParseDouble(token, &vector.values[person]);
      if (outcome == NumberOutcome::kOk) continue;
      Error error = InputError(std::string("a prediction is ") + NumberOutcomeText(outcome),
                               reader.Where() + ", column " + std::to_string(column + 2),
                               "Make the predictions again.");
      error.found = "'" + std::string(token.substr(0, 60)) + "'";
      error.expected = "a number, or NA";
      return error;
    }
    if (column == alignment.num_columns) return vector;
    Error error = InputError("the row has another number of values than the header has people",
                             reader.Where(), "The file is cut or damaged; make it again.");
    error.found = std::to_string(column);
    error.expected = std::to_string(alignment.num_columns);
    return error;
  }

  std::vector<std::shared_ptr<const LocoFile>> files_;
  size_t num_base_;
  FileEnv& env_;
};

}  // namespace

LocoIndexes::LocoIndexes() = default;
LocoIndexes::~LocoIndexes() = default;

Result<std::shared_ptr<const LocoIndex>> LocoIndexes::Find(const std::string& path,
                                                           int num_autosomes, FileEnv& env) {
  TALLELE_ASSIGN(const FileIdentity identity, env.Identity(path));
  std::shared_ptr<const LocoIndex>& known = indexes_[{path, num_autosomes}];
  if (known != nullptr && known->identity == identity) return known;
  known = nullptr;
  auto index = std::make_shared<LocoIndex>();
  index->identity = identity;
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path, env));
  std::string_view line;
  TALLELE_ASSIGN(const bool any, reader->Next(&line));
  if (!any) return InputError("the LOCO file is empty", path, "Make the predictions again.");
  TALLELE_TRY(CheckHeader(line, reader->Where()));
  index->header_digest = Sha256Hex(line);
  std::shared_ptr<const std::string>& header = headers_[index->header_digest];
  if (header == nullptr) header = std::make_shared<const std::string>(line);
  index->header = header;
  TALLELE_TRY(IndexRows(*reader, num_autosomes, *index));
  known = std::move(index);
  return known;
}

Result<std::unique_ptr<LocoPredictions>> LocoPredictions::Open(
    const std::string& pred_list, std::span<const std::string> traits,
    std::span<const std::string> base_keys, int num_autosomes, EventSink& events,
    const LocoInputs& inputs) {
  using PathMap = std::map<std::string, std::string>;
  FileEnv& env = inputs.env != nullptr ? *inputs.env : PosixFileEnv();
  TALLELE_ASSIGN(const PathMap paths, ReadPredList(pred_list, env));
  const KeyIndex keys(base_keys);
  LocoIndexes own_indexes;
  LocoIndexes& indexes = inputs.indexes != nullptr ? *inputs.indexes : own_indexes;
  std::map<std::string, std::shared_ptr<const Alignment>> alignments;  // by digest of the header
  std::map<std::string, std::shared_ptr<const LocoFile>> file_of_path;
  std::vector<std::shared_ptr<const LocoFile>> files;
  for (const std::string& trait : traits) {
    const auto path = paths.find(trait);
    if (path == paths.end()) {
      files.push_back(nullptr);
      continue;
    }
    std::shared_ptr<const LocoFile>& file = file_of_path[path->second];
    if (file == nullptr) {
      LocoFile opened;
      opened.path = path->second;
      TALLELE_ASSIGN(opened.index, indexes.Find(path->second, num_autosomes, env));
      std::shared_ptr<const Alignment>& alignment = alignments[opened.index->header_digest];
      if (alignment == nullptr) {
        TALLELE_ASSIGN(alignment,
                       Align(path->second, *opened.index->header, keys, base_keys.size()));
      }
      opened.alignment = alignment;
      file = std::make_shared<const LocoFile>(std::move(opened));
    }
    if (file->alignment->absent_people > 0) {
      events.Message(Severity::kWarning,
                     "trait " + trait + ": " + std::to_string(file->alignment->absent_people) +
                         " people have no predictions in " + file->path + " and are left out");
    }
    files.push_back(file);
  }
  return std::unique_ptr<LocoPredictions>(
      new IndexedLocoPredictions(std::move(files), base_keys.size(), env));
}

}  // namespace tallele

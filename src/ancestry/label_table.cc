#include "ancestry/label_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/text_reader.h"

namespace tallele {
namespace {

using Fields = std::vector<std::string_view>;

bool IsNameColumn(std::string_view name) {
  return name == "FID" || name == "#FID" || name == "IID" || name == "#IID";
}

// Where names and labels stand.
struct Columns {
  size_t name = 0;
  size_t label = 0;
};

Result<Columns> ChooseColumns(const Fields& header, const std::string& column,
                              const std::string& path) {
  Columns columns;
  std::string others;
  size_t num_others = 0;
  bool found = false;
  for (size_t c = 0; c < header.size(); ++c) {
    if (header[c] == "IID" || header[c] == "#IID") columns.name = c;
  }
  for (size_t c = 0; c < header.size(); ++c) {
    if (c == columns.name || IsNameColumn(header[c])) continue;
    if (column.empty() || header[c] == column) {
      if (found && !column.empty()) {
        return InputError("the label column stands twice in the header", path);
      }
      columns.label = c;
      found = true;
    }
    ++num_others;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", header[c]);
  }
  if (found && (!column.empty() || num_others == 1)) return columns;
  Error error = InputError(column.empty() ? "the table has more than one column of labels, or none"
                                          : "the table has no column " + column,
                           path, "Name the column with --label-column.");
  error.found = others.empty() ? "no columns besides the names" : others;
  return error;
}

}  // namespace

Result<LabelTable> LabelTable::Read(const std::string& path, const std::string& column) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path));
  std::string_view line;
  TALLELE_ASSIGN(const bool has_header, reader->Next(&line));
  if (!has_header) return InputError("the table is empty", path);
  const bool tabs = line.find('\t') != std::string_view::npos;
  const auto split = [tabs](std::string_view text, Fields& fields) {
    tabs ? SplitTabs(text, fields) : SplitBlanks(text, fields);
  };
  Fields fields;
  split(line, fields);
  TALLELE_ASSIGN(const Columns columns, ChooseColumns(fields, column, path));
  const size_t width = fields.size();
  LabelTable table;
  for (;;) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) return table;
    if (Trim(line).empty()) continue;
    split(line, fields);
    if (fields.size() != width) {
      Error error = InputError("wrong number of columns", reader->Where());
      error.found = std::to_string(fields.size());
      error.expected = fmt::format("{} as in the header", width);
      return error;
    }
    const std::string_view label = fields[columns.label];
    if (label.empty() || label == "NA") continue;
    const auto [at, added] =
        table.labels_.try_emplace(std::string(fields[columns.name]), std::string(label));
    if (!added && at->second != label) {
      return InputError("a person has two different labels", reader->Where());
    }
  }
}

const std::string* LabelTable::Find(const std::string& sample) const {
  const auto found = labels_.find(sample);
  return found == labels_.end() ? nullptr : &found->second;
}

Result<LabelledPeople> JoinLabels(const std::vector<std::string>& samples,
                                  const LabelRequest& request) {
  TALLELE_ASSIGN(const LabelTable table, LabelTable::Read(request.path, request.column));
  LabelledPeople people;
  std::map<std::string, int64_t> classes;
  std::vector<const std::string*> labels;
  std::string unlabelled;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string* label = table.Find(samples[i]);
    if (label == nullptr) {
      ++people.num_unlabelled;
      unlabelled += samples[i] + "\n";
      continue;
    }
    people.kept.push_back(i);
    people.samples.push_back(samples[i]);
    labels.push_back(label);
    classes.try_emplace(*label, 0);
  }
  if (!request.list_unlabelled.empty()) {
    TALLELE_TRY(WriteFileAtomically(request.list_unlabelled, unlabelled));
  }
  if (people.num_unlabelled > 0 && (!request.drop_unlabelled || people.kept.empty())) {
    Error error = InputError("people of the genotypes have no label", request.path,
                             "Leave them out with --drop-unlabelled, or write their names to a "
                             "file with --list-unlabelled FILE.");
    error.found = fmt::format("{} of {} without one", people.num_unlabelled, samples.size());
    return error;
  }
  for (auto& [name, index] : classes) {
    index = static_cast<int64_t>(people.class_names.size());
    people.class_names.push_back(name);
  }
  for (const std::string* label : labels) people.labels.push_back(classes[*label]);
  return people;
}

}  // namespace tallele

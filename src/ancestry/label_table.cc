#include "ancestry/label_table.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/parse_number.h"
#include "base/text_reader.h"

namespace tallele {
namespace {

using Fields = std::vector<std::string_view>;

bool IsNameColumn(std::string_view name) {
  return name == "FID" || name == "#FID" || name == "IID" || name == "#IID";
}

// Where names and values stand.
struct Columns {
  std::optional<size_t> family;
  size_t name = 0;
  size_t value = 0;
};

Result<Columns> ChooseColumns(const Fields& header, const PersonColumnRequest& request) {
  Columns columns;
  std::string others;
  size_t num_others = 0;
  bool found = false;
  for (size_t c = 0; c < header.size(); ++c) {
    if (header[c] == "IID" || header[c] == "#IID") columns.name = c;
    if (header[c] == "FID" || header[c] == "#FID") columns.family = c;
  }
  for (size_t c = 0; c < header.size(); ++c) {
    if (c == columns.name || IsNameColumn(header[c])) continue;
    if (request.column.empty() || header[c] == request.column) {
      if (found && !request.column.empty()) {
        return InputError("the column " + request.column + " stands twice in the header",
                          request.path);
      }
      columns.value = c;
      found = true;
    }
    ++num_others;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", header[c]);
  }
  if (found && (!request.column.empty() || num_others == 1)) return columns;
  Error error = InputError(request.column.empty()
                               ? "the table has more than one column besides the names, or none"
                               : "the table has no column " + request.column,
                           request.path, "Name the column with " + request.flag + ".");
  error.found = others.empty() ? "no columns besides the names" : others;
  return error;
}

Result<std::vector<double>> ParseValues(const PersonColumn& column,
                                        const std::vector<const PersonColumn::Cell*>& cells) {
  std::vector<double> values;
  for (const PersonColumn::Cell* cell : cells) {
    double value = 0;
    const NumberOutcome outcome = ParseDouble(cell->text, &value);
    if (outcome == NumberOutcome::kOk && std::abs(value) <= std::numeric_limits<float>::max()) {
      values.push_back(value);
      continue;
    }
    Error error = InputError("a regression value cannot be used", column.Where(*cell),
                             "Write missing values as NA.");
    error.found = "'" + cell->text.substr(0, 40) + "'";
    error.expected = "a finite number within the range of float32";
    return error;
  }
  return values;
}

// Says how many people lack a label or a value.
Error UnlabelledError(const LabelRequest& request, size_t no_label, size_t no_value, size_t all) {
  const bool of_labels = no_label > 0;
  Error error = InputError(fmt::format("people of the genotypes have no {}",
                                       !of_labels      ? "regression value"
                                       : no_value == 0 ? "label"
                                                       : "label or no regression value"),
                           of_labels ? request.path : request.values_path,
                           "Leave them out with --drop-unlabelled, or write their names to a "
                           "file with --list-unlabelled FILE.");
  if (of_labels) error.found = fmt::format("{} of {} without a label", no_label, all);
  if (no_value > 0) {
    error.found += fmt::format("{}{} of {} without a value in {}", of_labels ? ", " : "", no_value,
                               all, request.values_path);
  }
  return error;
}

}  // namespace

Result<PersonColumn> PersonColumn::Read(const PersonColumnRequest& request) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(request.path));
  std::string_view line;
  TALLELE_ASSIGN(const bool has_header, reader->Next(&line));
  if (!has_header) return InputError("the table is empty", request.path);
  const bool tabs = line.find('\t') != std::string_view::npos;
  const auto split = [tabs](std::string_view text, Fields& fields) {
    tabs ? SplitTabs(text, fields) : SplitBlanks(text, fields);
  };
  Fields fields;
  split(line, fields);
  TALLELE_ASSIGN(const Columns columns, ChooseColumns(fields, request));
  const size_t width = fields.size();
  PersonColumn table;
  table.path_ = request.path;
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
    std::string name(fields[columns.name]);
    if (request.by_family && columns.family) {
      name = std::string(fields[*columns.family]) + "_" + name;
    }
    const auto [at, added] = table.cells_.try_emplace(
        std::move(name), Cell{std::string(fields[columns.value]), reader->line_number()});
    if (!added) {
      return InputError(fmt::format("this person already stood on line {}", at->second.line),
                        reader->Where(), "Keep one line for each person.");
    }
  }
}

const PersonColumn::Cell* PersonColumn::Find(const std::string& sample) const {
  const auto found = cells_.find(sample);
  return found == cells_.end() ? nullptr : &found->second;
}

std::string PersonColumn::Where(const Cell& cell) const {
  return fmt::format("{}, line {}", path_, cell.line);
}

Result<LabelledPeople> JoinLabels(const std::vector<std::string>& samples,
                                  const LabelRequest& request) {
  using Cell = PersonColumn::Cell;
  TALLELE_ASSIGN(
      const PersonColumn table,
      PersonColumn::Read({request.path, request.column, "--label-column", request.by_family}));
  std::optional<PersonColumn> numbers;
  if (!request.values_path.empty()) {
    TALLELE_ASSIGN(numbers, PersonColumn::Read({request.values_path, request.values_column,
                                                "--regression-column", request.by_family}));
  }
  LabelledPeople people;
  std::map<std::string, int64_t> classes;
  std::vector<const Cell*> labels, values;
  std::string unlabelled;
  size_t no_label = 0, no_value = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Cell* label = table.Find(samples[i]);
    const Cell* value = numbers ? numbers->Find(samples[i]) : nullptr;
    const bool has_label = label != nullptr && !label->is_missing();
    const bool has_value = !numbers || (value != nullptr && !value->is_missing());
    no_label += has_label ? 0 : 1;
    no_value += has_value ? 0 : 1;
    if (!has_label || !has_value) {
      ++people.num_unlabelled;
      unlabelled += samples[i] + "\n";
      continue;
    }
    people.kept.push_back(i);
    people.samples.push_back(samples[i]);
    labels.push_back(label);
    if (numbers) values.push_back(value);
    classes.try_emplace(label->text, 0);
  }
  if (!request.list_unlabelled.empty()) {
    TALLELE_TRY(WriteFileAtomically(request.list_unlabelled, unlabelled));
  }
  if (people.num_unlabelled > 0 && (!request.drop_unlabelled || people.kept.empty())) {
    return UnlabelledError(request, no_label, no_value, samples.size());
  }
  for (auto& [name, index] : classes) {
    index = static_cast<int64_t>(people.class_names.size());
    people.class_names.push_back(name);
  }
  for (const Cell* label : labels) people.labels.push_back(classes[label->text]);
  if (numbers) {
    TALLELE_ASSIGN(people.values, ParseValues(*numbers, values));
  }
  return people;
}

}  // namespace tallele

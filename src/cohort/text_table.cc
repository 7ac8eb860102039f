#include "cohort/text_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tallele {
namespace {

constexpr size_t kNamesInMessage = 30;

std::string JoinNames(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kNamesInMessage; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kNamesInMessage ? text + ", ..." : text;
}

// Levenshtein distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({substituted, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row[b.size()];
}

// The name that needs the fewest edits; `names` is not empty.
std::string Nearest(const std::vector<std::string>& names, std::string_view name) {
  return *std::min_element(names.begin(), names.end(),
                           [name](const std::string& a, const std::string& b) {
                             return EditDistance(a, name) < EditDistance(b, name);
                           });
}

}  // namespace

bool IsBuiltInMissing(std::string_view token) {
  return token.empty() || token == "NA" || token == "." || token == "NaN" || token == "nan";
}

Result<std::unique_ptr<TextTable>> TextTable::Open(const std::string& path, FileEnv& env) {
  std::unique_ptr<TextTable> table(new TextTable);
  TALLELE_ASSIGN(table->reader_, LineReader::Open(path, env));
  TALLELE_TRY(table->ReadHeader());
  return table;
}

void TextTable::Split(std::string_view line) {
  if (split_at_tabs_) {
    SplitTabs(line, fields_);
  } else {
    SplitBlanks(line, fields_);
  }
}

Result<void> TextTable::ReadHeader() {
  std::string_view line;
  TALLELE_ASSIGN(const bool any, reader_->Next(&line));
  const std::string advice = "The first line must name the columns: FID IID, then one name each.";
  if (!any) return InputError("the table is empty", path(), advice);
  if (line.starts_with('#')) line.remove_prefix(1);
  split_at_tabs_ = line.find('\t') != std::string_view::npos;
  Split(line);
  if (!fields_.empty() && fields_[0] == "IID") {
    num_identity_ = 1;
  } else if (fields_.size() < 2 || fields_[0] != "FID" || fields_[1] != "IID") {
    Error error =
        InputError("the header does not begin with FID and IID", reader_->Where(), advice);
    error.found = fields_.empty() ? "an empty line" : std::string(fields_[0]);
    if (fields_.size() > 1) error.found += " " + std::string(fields_[1]);
    error.expected = "FID IID";
    return error;
  }
  for (size_t i = num_identity_; i < fields_.size(); ++i) {
    // A second identifier is a mistake (`IID FID`, two tables pasted together), never a trait.
    if (fields_[i] == "FID" || fields_[i] == "IID") {
      return InputError(
          "the header names " + std::string(fields_[i]) + " a second or later time",
          reader_->Where() + ", column " + std::to_string(i + 1),
          "The header must begin with FID IID, or IID alone, and name neither again.");
    }
    columns_.emplace_back(fields_[i]);
  }
  return {};
}

Result<void> TextTable::RequireColumn(const std::string& name) const {
  if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) return {};
  Error error = InputError("there is no column " + name, path() + ", line 1",
                           "Check the spelling; names are case-sensitive.");
  error.expected =
      columns_.empty() ? "a header with more than identifiers" : "one of " + JoinNames(columns_);
  if (!columns_.empty())
    error.advice = "Nearest is " + Nearest(columns_, name) + ". " + error.advice;
  return error;
}

Result<size_t> TextTable::Column(const std::string& name) const {
  TALLELE_TRY(RequireColumn(name));
  const auto at = std::find(columns_.begin(), columns_.end(), name);
  const auto position = static_cast<size_t>(at - columns_.begin());
  if (name.empty()) {
    return InputError("column " + std::to_string(position + num_identity_ + 1) + " has no name",
                      path() + ", line 1",
                      "Name it, take it out (a tab at the end of the lines makes one), or say by "
                      "name which columns to use.");
  }
  if (std::find(at + 1, columns_.end(), name) != columns_.end()) {
    return InputError("the column " + name + " stands twice in the header", path() + ", line 1",
                      "Rename or remove one of them.");
  }
  return position;
}

Error TextTable::RaggedRow() const {
  const size_t expected = columns_.size() + num_identity_;
  const bool in_columns = fields_.size() < expected && fields_.size() >= num_identity_;
  Error error = InputError(
      in_columns ? "the line ends before column " + columns_[fields_.size() - num_identity_]
                 : "the line has another number of fields than the header",
      reader_->Where(),
      split_at_tabs_ ? "The file is split at tabs, since its header has some."
                     : "Write missing values as NA.");
  error.found = std::to_string(fields_.size()) + " fields";
  error.expected = std::to_string(expected);
  return error;
}

Result<bool> TextTable::Next(TableRow* row) {
  std::string_view line;
  do {
    TALLELE_ASSIGN(const bool more, reader_->Next(&line));
    if (!more) return false;
  } while (Trim(line).empty());
  Split(line);
  if (fields_.size() != columns_.size() + num_identity_) return RaggedRow();
  row->fid = fields_[0];
  row->iid = fields_[num_identity_ - 1];
  row->cells = std::span<const std::string_view>(fields_).subspan(num_identity_);
  if (row->fid.empty() || row->iid.empty()) {
    return InputError("an identifier is empty", reader_->Where(),
                      "Give everybody a FID and an IID.");
  }
  person_.assign(row->fid).append(1, '\t').append(row->iid);
  const auto earlier =
      line_of_person_.Insert(person_, static_cast<uint64_t>(reader_->line_number()));
  if (earlier) {
    return InputError("this person already stood on line " + std::to_string(*earlier),
                      reader_->Where(), "Keep one line for each person.");
  }
  return true;
}

Error TextTable::CellError(size_t column, std::string what, std::string_view found,
                           std::string expected) const {
  Error error = InputError(std::move(what), reader_->Where() + ", column " + columns_[column]);
  error.found = "'" + std::string(found.substr(0, 60)) + "'";
  error.expected = std::move(expected);
  return error;
}

}  // namespace tallele

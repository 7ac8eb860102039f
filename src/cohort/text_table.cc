#include "cohort/text_table.h"

#include <algorithm>

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

}  // namespace

bool IsBuiltInMissing(std::string_view token) {
  return token.empty() || token == "NA" || token == "." || token == "NaN" || token == "nan";
}

Result<std::unique_ptr<TextTable>> TextTable::Open(const std::string& path) {
  std::unique_ptr<TextTable> table(new TextTable);
  TALLELE_ASSIGN(table->reader_, LineReader::Open(path));
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
  for (size_t i = num_identity_; i < fields_.size(); ++i) columns_.emplace_back(fields_[i]);
  return {};
}

Result<size_t> TextTable::Column(const std::string& name) const {
  const auto at = std::find(columns_.begin(), columns_.end(), name);
  if (at == columns_.end()) {
    Error error = InputError("there is no column " + name, path() + ", line 1",
                             "Check the spelling; names are case-sensitive.");
    error.expected = "one of " + JoinNames(columns_);
    return error;
  }
  if (std::find(at + 1, columns_.end(), name) != columns_.end()) {
    return InputError("the column " + name + " stands twice in the header", path() + ", line 1",
                      "Rename or remove one of them.");
  }
  return static_cast<size_t>(at - columns_.begin());
}

Result<bool> TextTable::Next(TableRow* row) {
  std::string_view line;
  do {
    TALLELE_ASSIGN(const bool more, reader_->Next(&line));
    if (!more) return false;
  } while (Trim(line).empty());
  Split(line);
  if (fields_.size() != columns_.size() + num_identity_) {
    Error error =
        InputError("the line has another number of fields than the header", reader_->Where(),
                   split_at_tabs_ ? "The file is split at tabs, since its header has some."
                                  : "Write missing values as NA.");
    error.found = std::to_string(fields_.size());
    error.expected = std::to_string(columns_.size() + num_identity_);
    return error;
  }
  row->fid = fields_[0];
  row->iid = fields_[num_identity_ - 1];
  row->cells = std::span<const std::string_view>(fields_).subspan(num_identity_);
  if (row->fid.empty() || row->iid.empty()) {
    return InputError("an identifier is empty", reader_->Where(),
                      "Give everybody a FID and an IID.");
  }
  std::string person(row->fid);
  person.append(1, '\t').append(row->iid);
  const auto [earlier, added] = line_of_person_.try_emplace(person, reader_->line_number());
  if (!added) {
    return InputError("this person already stood on line " + std::to_string(earlier->second),
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

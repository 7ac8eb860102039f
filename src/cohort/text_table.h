#ifndef TALLELE_COHORT_TEXT_TABLE_H_
#define TALLELE_COHORT_TEXT_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "base/text_index.h"
#include "base/text_reader.h"

namespace tallele {

// One row of a table of people; views are valid until the next row is read.
struct TableRow {
  std::string_view fid;
  std::string_view iid;
  std::span<const std::string_view> cells;  // those after the identity columns
};

// Reads a table of people: a header line `FID IID name...` (also `#FID`; `IID` or `#IID` alone
// stand for FID = IID), then a line for each person. A file whose header has a tab is split at
// tabs alone, so that an empty cell stays one; any other at runs of blanks and tabs. CRLF, byte
// order marks and gzip are read; lines without content are skipped.
class TextTable {
 public:
  static Result<std::unique_ptr<TextTable>> Open(const std::string& path,
                                                 FileEnv& env = PosixFileEnv());

  // Names of the columns after the identity.
  const std::vector<std::string>& columns() const { return columns_; }

  // Position of a column among `columns()`. Errors: no such name (with the nearest one that there
  // is), a column without a name, or a name that stands twice.
  Result<size_t> Column(const std::string& name) const;

  // An error if no column has this name. One that stands twice is none: this is for names that
  // are not read.
  Result<void> RequireColumn(const std::string& name) const;

  // The next row; false at the end. Errors: another number of fields than the header, an empty
  // identifier, a person who stood on an earlier line.
  Result<bool> Next(TableRow* row);

  // An error about a cell of the current row: file, line and column, what was found.
  Error CellError(size_t column, std::string what, std::string_view found,
                  std::string expected) const;
  std::string Where() const { return reader_->Where(); }
  const std::string& path() const { return reader_->path(); }

 private:
  TextTable() = default;
  Result<void> ReadHeader();
  Error RaggedRow() const;
  void Split(std::string_view line);

  std::unique_ptr<LineReader> reader_;
  bool split_at_tabs_ = false;
  size_t num_identity_ = 2;
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;
  std::string person_;  // "FID tab IID" of the current row
  TextIndex line_of_person_;
};

// NA, NaN, nan, "." or empty.
bool IsBuiltInMissing(std::string_view token);

}  // namespace tallele

#endif  // TALLELE_COHORT_TEXT_TABLE_H_

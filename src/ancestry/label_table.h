#ifndef TALLELE_ANCESTRY_LABEL_TABLE_H_
#define TALLELE_ANCESTRY_LABEL_TABLE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace tallele {

struct PersonColumnRequest {
  std::string path;
  std::string column;      // may be empty when the table has one column besides the names
  std::string flag;        // the option that names the column, for errors
  bool by_family = false;  // people are FID_IID where the table has both columns
};

// One column of a table of people, by sample name.
class PersonColumn {
 public:
  struct Cell {
    std::string text;  // empty or NA: the person has no value
    int64_t line = 0;
    bool is_missing() const { return text.empty() || text == "NA"; }
  };

  // A table with a header line, split at tabs when the header has one, else at blanks. People are
  // named by column IID where the header has it, else by the first column. Errors: ragged lines, a
  // person on two lines (both are named), a column that is not there or not clear.
  static Result<PersonColumn> Read(const PersonColumnRequest& request);

  // The cell, or null when the table lacks the person.
  const Cell* Find(const std::string& sample) const;
  // "path, line 3".
  std::string Where(const Cell& cell) const;

 private:
  std::string path_;
  std::unordered_map<std::string, Cell> cells_;
};

// What became of the people of a genotype file.
struct LabelledPeople {
  std::vector<size_t> kept;              // positions in the file
  std::vector<std::string> samples;      // of those
  std::vector<std::string> class_names;  // sorted by bytes
  std::vector<int64_t> labels;           // of those
  std::vector<double> values;            // of those; empty when no values were asked for
  size_t num_unlabelled = 0;
};

struct LabelRequest {
  std::string path;  // classes
  std::string column;
  std::string values_path;  // values of a regression; may be empty
  std::string values_column;
  bool by_family = false;  // sample names are FID_IID
  bool drop_unlabelled = false;
  std::string list_unlabelled;  // file for the names of people without a label; may be empty
};

// Joins people with their labels and values, in time proportional to all. People without a label
// (or, where values are asked for, without a value) are an error that gives their number, unless
// they are dropped. Values are finite and within the range of float32, as which they are trained
// on; others are an error with their line.
Result<LabelledPeople> JoinLabels(const std::vector<std::string>& samples,
                                  const LabelRequest& request);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_LABEL_TABLE_H_

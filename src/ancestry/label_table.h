#ifndef TALLELE_ANCESTRY_LABEL_TABLE_H_
#define TALLELE_ANCESTRY_LABEL_TABLE_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace tallele {

// Labels of people by sample name.
class LabelTable {
 public:
  // A table with a header line, split at tabs when the header has one, else at blanks. People are
  // named by column IID where the header has it, else by the first column. Labels stand in
  // `column`; without one, the table must have exactly one column besides the names (FID, IID).
  // Empty cells and NA are no label. Errors: ragged lines, a person with two different labels.
  static Result<LabelTable> Read(const std::string& path, const std::string& column);

  // The label, or null when the person has none.
  const std::string* Find(const std::string& sample) const;
  size_t size() const { return labels_.size(); }

 private:
  std::unordered_map<std::string, std::string> labels_;
};

// What became of the people of a genotype file.
struct LabelledPeople {
  std::vector<size_t> kept;              // positions in the file
  std::vector<std::string> samples;      // of those
  std::vector<std::string> class_names;  // sorted by bytes
  std::vector<int64_t> labels;           // of those
  size_t num_unlabelled = 0;
};

struct LabelRequest {
  std::string path;
  std::string column;
  bool drop_unlabelled = false;
  std::string list_unlabelled;  // file for the names of people without a label; may be empty
};

// Joins people with their labels, in time proportional to both. Unlabelled people are an error
// that gives their number, unless they are dropped.
Result<LabelledPeople> JoinLabels(const std::vector<std::string>& samples,
                                  const LabelRequest& request);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_LABEL_TABLE_H_

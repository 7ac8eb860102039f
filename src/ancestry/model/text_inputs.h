#ifndef TALLELE_ANCESTRY_MODEL_TEXT_INPUTS_H_
#define TALLELE_ANCESTRY_MODEL_TEXT_INPUTS_H_

#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "base/result.h"

namespace tallele {

// A whole text file of at most 16 MiB.
Result<std::string> ReadTextFile(const std::string& path);

// Lines that are not empty, blanks at the ends removed.
Result<std::vector<std::string>> ReadNameList(const std::string& path);

// Class names in class order: a name a line, or JSON that maps each name to its index.
Result<std::vector<std::string>> ReadClassNames(const std::string& path);

struct SnpSources {
  std::string list;                // a name a line; may be empty
  std::string bim;                 // may be empty
  std::vector<std::string> names;  // instead of `list`
  bool counted_first = false;      // letters of names like chr1:12345:A:G
  bool counted_last = false;
};

// The SNPs of a model. With a .bim, its first allele is the counted one, and names that are given
// as well must be those of the .bim in the same order, or their `chrom:position`.
Result<ModelSnps> ReadModelSnps(const SnpSources& sources);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_TEXT_INPUTS_H_

#ifndef TALLELE_RESULTS_TRAIT_OUTPUT_H_
#define TALLELE_RESULTS_TRAIT_OUTPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/parquet_part.h"
#include "results/result_table.h"

namespace tallele {

// Variants that go into one Parquet part: the grid restarts at each chromosome run and does
// not depend on block size or filters.
inline constexpr size_t kVariantsPerPart = 65536;
std::vector<VariantRange> PartGrid(const VariantIndex& variants,
                                   size_t variants_per_part = kVariantsPerPart);

struct OutputRequest {
  std::string prefix;         // --out
  std::string run_directory;  // "<out>.tallele" unless set
  bool parquet = true;
  bool regenie_text = false;
  bool gzip = false;
  bool existing_allowed = false;  // the run directory may hold an earlier run
  size_t variants_per_part = kVariantsPerPart;
  std::string plan_hash;  // for the footers of the parts
  bool split = true;      // text: one file a trait; else the caller writes a wide one
  // Empty: text can be made from parts. Else its lines are kept beside them under this layout.
  std::string kept_text;
};

// Files of one finished trait.
struct TraitFiles {
  std::string trait;
  std::string parquet_directory;  // empty when not written
  std::string text_file;
  size_t num_rows = 0;
};

// Writes the rows of one trait. Calls come in variant order, one part of the grid after the
// other, from one thread at a time.
class TraitOutput {
 public:
  virtual ~TraitOutput() = default;

  // Rows of `range`, which lies inside one part.
  virtual Result<void> Append(const ResultTable& table) = 0;

  // Publishes the part that holds `part` (also one without rows, so that coverage is known).
  // Nothing without Parquet.
  virtual Result<std::optional<PublishedPart>> FinishPart(VariantRange part) = 0;

  // Rows of a part that an earlier attempt of the run published: for the text alone. `kept`: its
  // lines; null makes them from the rows.
  virtual Result<void> Restore(const ResultTable& table, const std::string* kept) = 0;

  // Publishes what is left (the text file) and syncs. Nothing appears under a final name
  // without it, except finished parts.
  virtual Result<TraitFiles> Finish() = 0;
};

// "trait_0001_<name>": unsafe characters become '_', long names are cut. 1-based.
std::string TraitDirectoryName(size_t trait_number, const std::string& trait);

// Checks the destinations of a run before anything is written: the run directory must be
// absent or empty unless `existing_allowed`, names must not collide, the parent must exist and be
// writable.
Result<void> CheckOutputs(const OutputRequest& request, const std::vector<std::string>& traits);

// Makes the folders and opens hidden files. `variants` and `env` must outlive the output.
Result<std::unique_ptr<TraitOutput>> OpenTraitOutput(const OutputRequest& request,
                                                     const ResultSchema& schema,
                                                     size_t trait_number, const std::string& trait,
                                                     const VariantIndex& variants,
                                                     FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_TRAIT_OUTPUT_H_

#ifndef TALLELE_RESULTS_PARQUET_PART_H_
#define TALLELE_RESULTS_PARQUET_PART_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/kept_text.h"
#include "results/result_table.h"

namespace tallele {

// What a part's footer says about it.
struct ParquetPartInfo {
  std::string trait;
  VariantRange part;           // the variants that the part covers, tested or not
  std::string plan_hash = {};  // of the run's execution plan; empty outside a run
};

// A part that is complete, on disk and under its final name.
struct PublishedPart {
  std::string file;  // name inside the parts folder
  VariantRange part;
  size_t num_rows = 0;
  uint64_t num_bytes = 0;
  std::string sha256;
  std::optional<KeptText> text = {};  // published before the part
};

// Writes one Parquet file with the rows of one trait for one part of the grid.
//
// Columns 1-14 are a contract: CHROM, GENPOS, ID, ALLELE0, ALLELE1, A1FREQ, INFO, N, BETA, SE,
// CHISQ, LOG10P, CORRECTION_METHOD, CORRECTION_STATUS. Behind them stand TEST, INFO_RATIO,
// STATUS_REASON and VARIANT_INDEX; new columns are only ever appended. INFO and INFO_RATIO are null
// where undefined, a statistic that does not exist is NaN. A1FREQ, INFO and the statistics are
// doubles, so that text made from them has REGENIE's digits (float with
// `ResultSchema::float32_statistics`). Equal rows give equal bytes.
class ParquetPartWriter {
 public:
  // Opens a hidden file beside `path`. `schema` and `variants` must outlive the writer.
  static Result<std::unique_ptr<ParquetPartWriter>> Create(const std::string& path,
                                                           const ParquetPartInfo& info,
                                                           const ResultSchema& schema,
                                                           const VariantIndex& variants,
                                                           FileEnv& env = PosixFileEnv());
  virtual ~ParquetPartWriter() = default;

  virtual Result<void> Append(std::span<const ResultRow> rows) = 0;

  // Writes the footer, syncs and renames. Without rows the file has the schema alone.
  virtual Result<PublishedPart> Finish() = 0;
};

// The Parquet schema of a part as one canonical text, to compare files with.
std::string PartSchemaText(const ResultSchema& schema);

}  // namespace tallele

#endif  // TALLELE_RESULTS_PARQUET_PART_H_

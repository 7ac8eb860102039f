#ifndef TALLELE_RESULTS_PARQUET_PART_H_
#define TALLELE_RESULTS_PARQUET_PART_H_

#include <memory>
#include <span>
#include <string>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/result_table.h"

namespace tallele {

// What a part's footer says about it, beside its rows.
struct PartDescription {
  std::string trait;
  VariantRange variants;  // those that the part covers, tested or not
};

// One Parquet file of results (docs/formats/results.md). It appears under its name only at
// `Finish`.
class ParquetPart {
 public:
  virtual ~ParquetPart() = default;
  virtual Result<void> Append(std::span<const ResultRow> rows) = 0;
  virtual Result<void> Finish() = 0;
};

// `schema` and `variants` must outlive the part.
Result<std::unique_ptr<ParquetPart>> CreateParquetPart(const std::string& path,
                                                       const ResultSchema& schema,
                                                       const VariantIndex& variants,
                                                       PartDescription description,
                                                       FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_PARQUET_PART_H_

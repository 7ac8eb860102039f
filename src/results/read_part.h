#ifndef TALLELE_RESULTS_READ_PART_H_
#define TALLELE_RESULTS_READ_PART_H_

#include <cstddef>
#include <string>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"
#include "results/result_table.h"
#include "results/run_manifest.h"

namespace tallele {

// Checks a committed part: present, as large and of the digest that the manifest records, a Parquet
// file whose footer names the same range, rows and plan. The error says which of these is not so.
Result<void> CheckPart(const std::string& parts_folder, const CommittedPart& part,
                       const std::string& trait, const std::string& plan_hash,
                       FileEnv& env = PosixFileEnv());

// The rows of a part in variant order, all numbers as they were written. Errors: not readable, a
// schema that this version does not write, a variant outside `range`, a text that is none of ours.
Result<ResultTable> ReadPart(const std::string& path, VariantRange range,
                             const ResultSchema& schema, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_READ_PART_H_

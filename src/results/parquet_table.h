#ifndef TALLELE_RESULTS_PARQUET_TABLE_H_
#define TALLELE_RESULTS_PARQUET_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

enum class TableType { kText, kReal, kInteger };

struct TableColumn {
  std::string name;
  TableType type = TableType::kText;
};

// Some rows of a table, column by column; the alternative of each column is that of its type.
using TableValues =
    std::variant<std::vector<std::string>, std::vector<double>, std::vector<int64_t>>;
using TableRows = std::vector<TableValues>;

// Writes one Parquet file with plain columns (UTF-8 text, double, int64), all required; a real
// that does not exist is NaN. Equal rows in equal portions give equal bytes.
class ParquetTableWriter {
 public:
  // Opens a hidden file beside `path`.
  static Result<std::unique_ptr<ParquetTableWriter>> Create(const std::string& path,
                                                            std::vector<TableColumn> columns,
                                                            FileEnv& env = PosixFileEnv());
  virtual ~ParquetTableWriter() = default;

  // Each call makes a row group.
  virtual Result<void> Append(const TableRows& rows) = 0;
  // Writes the footer, syncs and renames.
  virtual Result<void> Finish() = 0;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_PARQUET_TABLE_H_

#include "results/read_part.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hashing.h"
#include "results/parquet_part.h"

namespace tallele {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kMethodNames[] = {"score", "firth_approximate", "firth_exact", "spa"};
constexpr std::string_view kReasonNames[] = {
    "", "no_variance", "null_failed", "not_converged", "null_firth_failed", "one_tail"};

// Parts are at most some megabytes: read whole, so that what is hashed is what is parsed.
Result<std::string> ReadFile(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  std::string bytes(identity.size, '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))));
  return bytes;
}

Error NotReadable(const std::string& path, std::string found) {
  Error error = InputError("a part of the results cannot be read", path,
                           "Remove the file and run again with --resume.");
  error.found = std::move(found);
  return error;
}

Error Differs(const std::string& path, std::string what, std::string found, std::string expected) {
  Error error = InputError(std::move(what), path);
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

std::unique_ptr<parquet::ParquetFileReader> OpenBytes(const std::string& bytes) {
  return parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
}

bool IsKnownSchema(const std::string& text) {
  for (const bool binary : {false, true}) {
    for (const bool float32 : {false, true}) {
      ResultSchema schema;
      schema.binary = binary;
      schema.float32_statistics = float32;
      if (text == PartSchemaText(schema)) return true;
    }
  }
  return false;
}

Result<void> CheckFooter(const std::string& path, const std::string& bytes,
                         const CommittedPart& part, const std::string& trait,
                         const std::string& plan_hash) {
  const auto reader = OpenBytes(bytes);
  const auto metadata = reader->metadata();
  const auto pairs = metadata->key_value_metadata();
  const std::pair<const char*, std::string> expected[] = {
      {"tallele.trait", trait},
      {"tallele.first_variant", std::to_string(part.range.first)},
      {"tallele.last_variant", std::to_string(part.range.first + part.range.count - 1)},
      {"tallele.rows", std::to_string(part.num_rows)},
      {"tallele.plan_hash", plan_hash}};
  for (const auto& [key, value] : expected) {
    const int at = pairs == nullptr ? -1 : pairs->FindKey(key);
    const std::string found = at < 0 ? "nothing" : pairs->value(at);
    if (PrintableText(found) != PrintableText(value)) {
      return Differs(path, std::string("the part's footer has another ") + key, found, value);
    }
  }
  if (metadata->num_rows() != static_cast<int64_t>(part.num_rows)) {
    return Differs(path, "the part has another number of rows",
                   std::to_string(metadata->num_rows()), std::to_string(part.num_rows));
  }
  if (!IsKnownSchema(metadata->schema()->ToString())) {
    return Differs(path, "the part has columns that this version does not write", "another schema",
                   "that of docs/formats/results.md");
  }
  return {};
}

// Reads the columns of one row group into rows.
class GroupReader {
 public:
  GroupReader(parquet::RowGroupReader& group, const parquet::SchemaDescriptor& schema, bool float32,
              std::span<ResultRow> rows)
      : group_(group), schema_(schema), float32_(float32), rows_(rows) {}

  void ReadAll() {
    Read<parquet::Int64Reader>("VARIANT_INDEX", [](ResultRow& row, int64_t value) {
      row.variant = static_cast<uint32_t>(value);
    });
    Read<parquet::Int32Reader>("N", [](ResultRow& row, int32_t value) { row.n = value; });
    ReadReal("A1FREQ", &ResultRow::a1freq);
    ReadReal("INFO", &ResultRow::info);
    ReadReal("INFO_RATIO", &ResultRow::info_ratio);
    ReadReal("BETA", &ResultRow::beta);
    ReadReal("SE", &ResultRow::se);
    ReadReal("CHISQ", &ResultRow::chisq);
    ReadReal("LOG10P", &ResultRow::log10p);
    ReadCoded("CORRECTION_METHOD", kMethodNames, [](ResultRow& row, size_t code) {
      row.method = static_cast<CorrectionMethod>(code);
    });
    ReadCoded("STATUS_REASON", kReasonNames,
              [](ResultRow& row, size_t code) { row.status = static_cast<RowStatus>(code); });
  }

  void ReadBinary() {
    Read<parquet::Int32Reader>("N_CASES",
                               [](ResultRow& row, int32_t value) { row.num_cases = value; });
    ReadReal("A1FREQ_CASES", &ResultRow::a1freq_cases);
    ReadReal("A1FREQ_CONTROLS", &ResultRow::a1freq_controls);
  }

 private:
  // Calls `set(row, value)`; a null leaves the row as it is.
  template <typename Reader, typename Set>
  void Read(const char* name, Set set) {
    const int column = schema_.ColumnIndex(name);
    if (column < 0) throw parquet::ParquetException(std::string("no column ") + name);
    const auto base = group_.Column(column);
    auto* reader = static_cast<Reader*>(base.get());
    const bool nullable = schema_.Column(column)->max_definition_level() > 0;
    // Texts are views into the page that is read: each batch is used before the next.
    std::vector<int16_t> levels(kBatch, 1);
    const auto values = std::make_unique<typename Reader::T[]>(kBatch);
    size_t done = 0;
    while (done < rows_.size()) {
      int64_t num_values = 0;
      const int64_t got =
          reader->ReadBatch(static_cast<int64_t>(std::min(kBatch, rows_.size() - done)),
                            nullable ? levels.data() : nullptr, nullptr, values.get(), &num_values);
      if (got <= 0) throw parquet::ParquetException(std::string("too few values of ") + name);
      int64_t value = 0;
      for (int64_t i = 0; i < got; ++i) {
        const bool exists = !nullable || levels[static_cast<size_t>(i)] > 0;
        if (exists) set(rows_[done + static_cast<size_t>(i)], values[value++]);
      }
      done += static_cast<size_t>(got);
    }
  }

  void ReadReal(const char* name, double ResultRow::* member) {
    for (ResultRow& row : rows_) row.*member = kNan;
    const auto set = [member](ResultRow& row, auto value) {
      row.*member = static_cast<double>(value);
    };
    if (float32_) {
      Read<parquet::FloatReader>(name, set);
    } else {
      Read<parquet::DoubleReader>(name, set);
    }
  }

  template <typename Set>
  void ReadCoded(const char* name, std::span<const std::string_view> texts, Set set) {
    Read<parquet::ByteArrayReader>(name, [&](ResultRow& row, const parquet::ByteArray& value) {
      const std::string_view text(value);
      for (size_t code = 0; code < texts.size(); ++code) {
        if (texts[code] == text) return set(row, code);
      }
      throw parquet::ParquetException("unknown text in " + std::string(name) + ": " +
                                      std::string(text));
    });
  }

  static constexpr size_t kBatch = 4096;

  parquet::RowGroupReader& group_;
  const parquet::SchemaDescriptor& schema_;
  bool float32_;
  std::span<ResultRow> rows_;
};

Result<ResultTable> ReadRows(const std::string& path, const std::string& bytes, VariantRange range,
                             const ResultSchema& schema) {
  const auto reader = OpenBytes(bytes);
  const auto metadata = reader->metadata();
  if (metadata->schema()->ToString() != PartSchemaText(schema)) {
    return Differs(path, "the part has columns that this run does not write", "another schema",
                   schema.float32_statistics ? "that of --statistic-dtype float32"
                                             : "that of docs/formats/results.md");
  }
  const auto num_rows = static_cast<size_t>(metadata->num_rows());
  if (num_rows > range.count) {
    return Differs(path, "the part has more rows than variants", std::to_string(num_rows),
                   "at most " + std::to_string(range.count));
  }
  ResultTable table;
  table.rows.resize(num_rows);
  size_t done = 0;
  for (int g = 0; g < metadata->num_row_groups(); ++g) {
    const auto group = reader->RowGroup(g);
    const auto count = static_cast<size_t>(group->metadata()->num_rows());
    if (count > num_rows - done) return NotReadable(path, "row groups of more rows than the file");
    GroupReader rows(*group, *metadata->schema(), schema.float32_statistics,
                     std::span(table.rows).subspan(done, count));
    rows.ReadAll();
    if (schema.binary) rows.ReadBinary();
    done += count;
  }
  size_t next = range.first;
  for (const ResultRow& row : table.rows) {
    if (row.variant < next || row.variant >= range.first + range.count) {
      return NotReadable(path, "variant " + std::to_string(row.variant) + " out of its place");
    }
    next = row.variant + size_t{1};
  }
  return table;
}

}  // namespace

Result<void> CheckPart(const std::string& parts_folder, const CommittedPart& part,
                       const std::string& trait, const std::string& plan_hash, FileEnv& env) {
  const std::string path = parts_folder + "/" + part.file;
  TALLELE_ASSIGN(const FileIdentity identity, env.Identity(path));
  if (identity.size != part.num_bytes) {
    return Differs(path, "the part has another size", std::to_string(identity.size) + " bytes",
                   std::to_string(part.num_bytes) + " bytes");
  }
  TALLELE_ASSIGN(const std::string bytes, ReadFile(path, env));
  const std::string digest = Sha256Hex(bytes);
  if (digest != part.sha256) {
    return Differs(path, "the part has another SHA-256", digest, part.sha256);
  }
  try {
    return CheckFooter(path, bytes, part, trait, plan_hash);
  } catch (const std::exception& failure) {
    return NotReadable(path, failure.what());
  }
}

Result<ResultTable> ReadPart(const std::string& path, VariantRange range,
                             const ResultSchema& schema, FileEnv& env) {
  TALLELE_ASSIGN(const std::string bytes, ReadFile(path, env));
  try {
    return ReadRows(path, bytes, range, schema);
  } catch (const std::exception& failure) {
    return NotReadable(path, failure.what());
  }
}

}  // namespace tallele

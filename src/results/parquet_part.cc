#include "results/parquet_part.h"

#include <arrow/io/interfaces.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/api/writer.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"

namespace tallele {
namespace {

constexpr size_t kRowsPerGroup = 32768;
constexpr char kSchemaVersion[] = "1";

// Arrow's output goes into a file that is published atomically; the first of our errors is kept,
// since Arrow's own text would lose it.
class AtomicFileStream final : public arrow::io::OutputStream {
 public:
  explicit AtomicFileStream(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* data, int64_t size) override {
    const Result<void> done =
        file_->Append(std::string_view(static_cast<const char*>(data), static_cast<size_t>(size)));
    position_ += size;
    if (done.ok()) return arrow::Status::OK();
    if (!error) error = done.error();
    return arrow::Status::IOError(done.error().Message());
  }
  Result<void> Commit() { return file_->Commit(); }

  std::optional<Error> error;

 private:
  std::unique_ptr<AtomicFile> file_;
  int64_t position_ = 0;
  bool closed_ = false;
};

using parquet::LogicalType;
using parquet::Repetition;
using parquet::Type;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

NodePtr TextColumn(const char* name) {
  return PrimitiveNode::Make(name, Repetition::REQUIRED, LogicalType::String(), Type::BYTE_ARRAY);
}

NodePtr NumberColumn(const char* name, bool float32, Repetition::type repetition) {
  return PrimitiveNode::Make(name, repetition, LogicalType::None(),
                             float32 ? Type::FLOAT : Type::DOUBLE);
}

// The columns in the order in which `WriteGroup` writes them.
std::shared_ptr<GroupNode> MakeSchema(bool float32) {
  parquet::schema::NodeVector columns;
  columns.push_back(TextColumn("CHROM"));
  columns.push_back(PrimitiveNode::Make("GENPOS", Repetition::REQUIRED, LogicalType::None(), Type::INT64));
  for (const char* name : {"ID", "ALLELE0", "ALLELE1"}) columns.push_back(TextColumn(name));
  columns.push_back(NumberColumn("A1FREQ", float32, Repetition::REQUIRED));
  columns.push_back(NumberColumn("INFO", float32, Repetition::OPTIONAL));
  columns.push_back(PrimitiveNode::Make("N", Repetition::REQUIRED, LogicalType::None(), Type::INT32));
  for (const char* name : {"BETA", "SE", "CHISQ", "LOG10P"}) {
    columns.push_back(NumberColumn(name, float32, Repetition::REQUIRED));
  }
  for (const char* name : {"CORRECTION_METHOD", "CORRECTION_STATUS", "TEST"}) {
    columns.push_back(TextColumn(name));
  }
  columns.push_back(NumberColumn("INFO_RATIO", float32, Repetition::OPTIONAL));
  columns.push_back(TextColumn("STATUS_REASON"));
  columns.push_back(
      PrimitiveNode::Make("VARIANT_INDEX", Repetition::REQUIRED, LogicalType::None(), Type::INT64));
  return std::static_pointer_cast<GroupNode>(
      GroupNode::Make("schema", Repetition::REQUIRED, columns));
}

// Zstd 1 with byte-stream-split numbers is the reference engine's measured choice
// (association.md 5.2); dictionaries only where values repeat.
std::shared_ptr<parquet::WriterProperties> MakeProperties() {
  parquet::WriterProperties::Builder builder;
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->data_page_version(parquet::ParquetDataPageVersion::V2)
      ->compression(parquet::Compression::ZSTD)
      ->compression_level(1)
      ->created_by("tallele")
      ->disable_dictionary();
  for (const char* name : {"CHROM", "ALLELE0", "ALLELE1", "N", "CORRECTION_METHOD",
                           "CORRECTION_STATUS", "TEST", "STATUS_REASON"}) {
    builder.enable_dictionary(name);
  }
  for (const char* name : {"A1FREQ", "INFO", "BETA", "SE", "CHISQ", "LOG10P", "INFO_RATIO"}) {
    builder.encoding(name, parquet::Encoding::BYTE_STREAM_SPLIT);
  }
  for (const char* name : {"GENPOS", "VARIANT_INDEX"}) {
    builder.encoding(name, parquet::Encoding::DELTA_BINARY_PACKED);
  }
  builder.encoding("ID", parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY);
  return builder.build();
}

parquet::ByteArray Bytes(std::string_view text) { return parquet::ByteArray(text); }

std::string_view MethodText(CorrectionMethod method) {
  switch (method) {
    case CorrectionMethod::kScore: return "score";
    case CorrectionMethod::kFirthApproximate: return "firth_approximate";
    case CorrectionMethod::kFirthExact: return "firth_exact";
    case CorrectionMethod::kSaddlepoint: return "spa";
  }
  return "score";
}

std::string_view ReasonText(RowStatus status) {
  switch (status) {
    case RowStatus::kSuccess: return "";
    case RowStatus::kNoVariance: return "no_variance";
    case RowStatus::kNullFailed: return "null_failed";
    case RowStatus::kNotConverged: return "not_converged";
  }
  return "";
}

// Writes one row group, column after column.
class GroupWriter {
 public:
  GroupWriter(parquet::RowGroupWriter& group, std::span<const ResultRow> rows, bool float32)
      : group_(group), rows_(rows), float32_(float32) {}

  template <typename Get>
  void Text(Get get) {
    std::vector<parquet::ByteArray> values;
    values.reserve(rows_.size());
    for (const ResultRow& row : rows_) values.push_back(Bytes(get(row)));
    Write<parquet::ByteArrayWriter>(values, nullptr);
  }

  template <typename Get>
  void Int64(Get get) {
    std::vector<int64_t> values;
    values.reserve(rows_.size());
    for (const ResultRow& row : rows_) values.push_back(get(row));
    Write<parquet::Int64Writer>(values, nullptr);
  }

  template <typename Get>
  void Int32(Get get) {
    std::vector<int32_t> values;
    values.reserve(rows_.size());
    for (const ResultRow& row : rows_) values.push_back(get(row));
    Write<parquet::Int32Writer>(values, nullptr);
  }

  void Number(double ResultRow::*field, bool nullable) {
    if (float32_) {
      NumberAs<float, parquet::FloatWriter>(field, nullable);
    } else {
      NumberAs<double, parquet::DoubleWriter>(field, nullable);
    }
  }

 private:
  // NaN is a value in required columns and null in optional ones.
  template <typename T, typename Writer>
  void NumberAs(double ResultRow::*field, bool nullable) {
    std::vector<T> values;
    std::vector<int16_t> levels;
    values.reserve(rows_.size());
    for (const ResultRow& row : rows_) {
      const bool present = !nullable || !std::isnan(row.*field);
      if (present) values.push_back(static_cast<T>(row.*field));
      if (nullable) levels.push_back(present ? 1 : 0);
    }
    Write<Writer>(values, nullable ? levels.data() : nullptr);
  }

  template <typename Writer, typename T>
  void Write(const std::vector<T>& values, const int16_t* levels) {
    auto* column = static_cast<Writer*>(group_.NextColumn());
    column->WriteBatch(static_cast<int64_t>(rows_.size()), levels, nullptr, values.data());
    column->Close();
  }

  parquet::RowGroupWriter& group_;
  std::span<const ResultRow> rows_;
  bool float32_;
};

class ArrowParquetPart final : public ParquetPart {
 public:
  ArrowParquetPart(std::string path, std::shared_ptr<AtomicFileStream> stream,
                   const ResultSchema& schema, const VariantIndex& variants,
                   PartDescription description)
      : path_(std::move(path)),
        stream_(std::move(stream)),
        schema_(schema),
        variants_(variants),
        description_(std::move(description)) {}

  Result<void> Open() {
    return Guard([this] {
      writer_ = parquet::ParquetFileWriter::Open(stream_, MakeSchema(schema_.float32_statistics),
                                                 MakeProperties());
    });
  }

  Result<void> Append(std::span<const ResultRow> rows) override {
    pending_.insert(pending_.end(), rows.begin(), rows.end());
    num_rows_ += rows.size();
    if (pending_.size() < kRowsPerGroup) return {};
    return Guard([this] { WriteGroup(); });
  }

  Result<void> Finish() override {
    TALLELE_TRY(Guard([this] {
      if (!pending_.empty()) WriteGroup();
      const auto metadata = std::make_shared<arrow::KeyValueMetadata>();
      const VariantRange range = description_.variants;
      metadata->Append("tallele.schema", kSchemaVersion);
      metadata->Append("tallele.trait", description_.trait);
      metadata->Append("tallele.test", schema_.test);
      metadata->Append("tallele.first_variant", std::to_string(range.first));
      metadata->Append("tallele.last_variant", std::to_string(range.first + range.count - 1));
      metadata->Append("tallele.rows", std::to_string(num_rows_));
      writer_->AddKeyValueMetadata(metadata);
      writer_->Close();
    }));
    return stream_->Commit();
  }

 private:
  // Runs `work`, turning Arrow's exceptions into errors.
  template <typename Work>
  Result<void> Guard(Work work) {
    try {
      work();
    } catch (const std::exception& failure) {
      if (stream_->error) return *stream_->error;
      Error error = InternalError("cannot encode a Parquet part");
      error.where = path_;
      error.found = failure.what();
      return error;
    }
    return {};
  }

  void WriteGroup() {
    GroupWriter group(*writer_->AppendRowGroup(), pending_, schema_.float32_statistics);
    const auto variant = [this](const ResultRow& row) { return variants_[row.variant]; };
    group.Text([&](const ResultRow& r) { return variant(r).chromosome; });
    group.Int64([&](const ResultRow& r) { return int64_t{variant(r).position}; });
    group.Text([&](const ResultRow& r) { return variant(r).id; });
    for (const bool first : {schema_.ref_first, !schema_.ref_first}) {
      group.Text([&](const ResultRow& r) {
        return first ? variant(r).first_allele : variant(r).second_allele;
      });
    }
    group.Number(&ResultRow::a1freq, false);
    group.Number(&ResultRow::info, true);
    group.Int32([](const ResultRow& r) { return r.n; });
    for (const auto field : {&ResultRow::beta, &ResultRow::se, &ResultRow::chisq, &ResultRow::log10p}) {
      group.Number(field, false);
    }
    group.Text([](const ResultRow& r) { return MethodText(r.method); });
    group.Text([](const ResultRow& r) {
      return std::string_view(r.status == RowStatus::kSuccess ? "success" : "failed");
    });
    group.Text([this](const ResultRow&) { return std::string_view(schema_.test); });
    group.Number(&ResultRow::info_ratio, true);
    group.Text([](const ResultRow& r) { return ReasonText(r.status); });
    group.Int64([](const ResultRow& r) { return int64_t{r.variant}; });
    pending_.clear();
  }

  std::string path_;
  std::shared_ptr<AtomicFileStream> stream_;
  const ResultSchema& schema_;
  const VariantIndex& variants_;
  PartDescription description_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  std::vector<ResultRow> pending_;
  size_t num_rows_ = 0;
};

}  // namespace

Result<std::unique_ptr<ParquetPart>> CreateParquetPart(const std::string& path,
                                                       const ResultSchema& schema,
                                                       const VariantIndex& variants,
                                                       PartDescription description, FileEnv& env) {
  TALLELE_ASSIGN(auto file, AtomicFile::Create(path, env));
  auto part = std::make_unique<ArrowParquetPart>(
      path, std::make_shared<AtomicFileStream>(std::move(file)), schema, variants,
      std::move(description));
  TALLELE_TRY(part->Open());
  return std::unique_ptr<ParquetPart>(std::move(part));
}

}  // namespace tallele

// The only file that includes Arrow: its headers cost ten seconds a translation unit.
#include "results/parquet_part.h"

#include <arrow/io/interfaces.h>
#include <arrow/status.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <cmath>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "results/trait_output.h"

namespace tallele {
namespace {

constexpr char kSchemaVersion[] = "1";
// Rows are encoded in batches of this size; a part of the grid is one row group, so no row group
// passes the 122,880 rows that readers like best.
constexpr size_t kBatchRows = 16'384;
static_assert(kVariantsPerPart <= 122'880);
// Small pages are compressed while a part is being filled, which bounds the memory that a part
// holds back until its row group is written.
constexpr int64_t kPageBytes = 128 << 10;

using parquet::schema::GroupNode;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

// Lets Parquet write into our own atomic file and keeps the first error in our own words.
class AtomicFileStream final : public arrow::io::OutputStream {
 public:
  explicit AtomicFileStream(AtomicFile& file) : file_(file) {}

  arrow::Status Write(const void* data, int64_t size) override {
    const auto bytes = static_cast<size_t>(size);
    Result<void> written =
        file_.Append(std::span<const std::byte>(static_cast<const std::byte*>(data), bytes));
    position_ += size;
    if (written) return arrow::Status::OK();
    if (!error_) error_ = written.error();
    return arrow::Status::IOError(error_->what);
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }

  const std::optional<Error>& error() const { return error_; }

 private:
  AtomicFile& file_;
  int64_t position_ = 0;
  bool closed_ = false;
  std::optional<Error> error_;
};

// Column numbers, in the order of the file.
enum Column {
  kChrom,
  kGenpos,
  kId,
  kAllele0,
  kAllele1,
  kA1freq,
  kInfo,
  kN,
  kBeta,
  kSe,
  kChisq,
  kLog10p,
  kCorrectionMethod,
  kCorrectionStatus,
  kTest,
  kInfoRatio,
  kStatusReason,
  kVariantIndex,
};

std::shared_ptr<GroupNode> MakeSchema(bool float32) {
  const auto required = parquet::Repetition::REQUIRED;
  const auto text = [&](const char* name) {
    return PrimitiveNode::Make(name, required, parquet::LogicalType::String(),
                               parquet::Type::BYTE_ARRAY);
  };
  const auto real = [&](const char* name, parquet::Repetition::type repetition) {
    return PrimitiveNode::Make(name, repetition,
                               float32 ? parquet::Type::FLOAT : parquet::Type::DOUBLE);
  };
  const auto int64 = [&](const char* name) {
    return PrimitiveNode::Make(name, required, parquet::Type::INT64);
  };
  const NodeVector columns = {
      text("CHROM"),
      int64("GENPOS"),
      text("ID"),
      text("ALLELE0"),
      text("ALLELE1"),
      real("A1FREQ", required),
      real("INFO", parquet::Repetition::OPTIONAL),
      PrimitiveNode::Make("N", required, parquet::Type::INT32),
      real("BETA", required),
      real("SE", required),
      real("CHISQ", required),
      real("LOG10P", required),
      text("CORRECTION_METHOD"),
      text("CORRECTION_STATUS"),
      text("TEST"),
      real("INFO_RATIO", parquet::Repetition::OPTIONAL),
      text("STATUS_REASON"),
      int64("VARIANT_INDEX"),
  };
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("schema", required, columns));
}

// zstd 1, data pages V2; dictionaries only where values repeat; the bytes of floating-point
// columns split by significance, differences for integers that rise.
std::shared_ptr<parquet::WriterProperties> MakeProperties() {
  parquet::WriterProperties::Builder builder;
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->data_page_version(parquet::ParquetDataPageVersion::V2)
      ->compression(parquet::Compression::ZSTD)
      ->compression_level(1)
      ->data_pagesize(kPageBytes)
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

std::string_view MethodName(CorrectionMethod method) {
  switch (method) {
    case CorrectionMethod::kScore:
      return "score";
    case CorrectionMethod::kFirthApproximate:
      return "firth_approximate";
    case CorrectionMethod::kFirthExact:
      return "firth_exact";
    case CorrectionMethod::kSaddlepoint:
      return "spa";
  }
  return "score";
}

std::string_view ReasonName(RowStatus status) {
  switch (status) {
    case RowStatus::kSuccess:
      return "";
    case RowStatus::kNoVariance:
      return "no_variance";
    case RowStatus::kNullFailed:
      return "null_failed";
    case RowStatus::kNotConverged:
      return "not_converged";
  }
  return "";
}

parquet::ByteArray View(std::string_view text) {
  return {static_cast<uint32_t>(text.size()), reinterpret_cast<const uint8_t*>(text.data())};
}

class PartWriter final : public ParquetPartWriter {
 public:
  PartWriter(std::unique_ptr<AtomicFile> file, const ParquetPartInfo& info,
             const ResultSchema& schema, const VariantIndex& variants)
      : file_(std::move(file)),
        stream_(std::make_shared<AtomicFileStream>(*file_)),
        info_(info),
        schema_(schema),
        variants_(variants) {}

  ~PartWriter() override {
    // An unfinished writer closes itself into the stream; the temporary goes away unread.
    try {
      writer_.reset();
    } catch (const std::exception&) {
    }
  }

  Result<void> Open() {
    return Guarded([&] {
      writer_ = parquet::ParquetFileWriter::Open(stream_, MakeSchema(schema_.float32_statistics),
                                                 MakeProperties());
    });
  }

  Result<void> Append(std::span<const ResultRow> rows) override {
    while (!rows.empty()) {
      const size_t taken = std::min(rows.size(), kBatchRows - batch_.size());
      batch_.insert(batch_.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
      rows = rows.subspan(taken);
      if (batch_.size() == kBatchRows) TALLELE_TRY(WriteBatch());
    }
    return {};
  }

  Result<void> Finish() override {
    if (!batch_.empty()) TALLELE_TRY(WriteBatch());
    TALLELE_TRY(Guarded([&] {
      writer_->AddKeyValueMetadata(Footer());
      writer_->Close();
    }));
    return file_->Commit();
  }

 private:
  // Runs `work` and turns the library's exceptions into errors.
  template <typename Work>
  Result<void> Guarded(Work work) {
    try {
      work();
      return {};
    } catch (const std::exception& exception) {
      if (stream_->error()) return *stream_->error();
      Error error = InternalError(std::string("the Parquet library failed: ") + exception.what());
      error.where = file_->path();
      return error;
    }
  }

  Result<void> WriteBatch() {
    return Guarded([&] {
      if (group_ == nullptr) group_ = writer_->AppendBufferedRowGroup();
      WriteVariantColumns();
      if (schema_.float32_statistics) {
        WriteRealColumns<parquet::FloatWriter, float>();
      } else {
        WriteRealColumns<parquet::DoubleWriter, double>();
      }
      WriteStatusColumns();
      num_rows_ += batch_.size();
      batch_.clear();
    });
  }

  template <typename Writer>
  Writer& ColumnWriter(Column column) {
    return static_cast<Writer&>(*group_->column(column));
  }

  int64_t BatchSize() const { return static_cast<int64_t>(batch_.size()); }

  void WriteText(Column column, const std::vector<parquet::ByteArray>& values) {
    ColumnWriter<parquet::ByteArrayWriter>(column).WriteBatch(BatchSize(), nullptr, nullptr,
                                                              values.data());
  }

  // A text column made row by row by `get`.
  template <typename Get>
  void WriteTextOf(Column column, Get get) {
    texts_.clear();
    for (const ResultRow& row : batch_) texts_.push_back(View(get(row)));
    WriteText(column, texts_);
  }

  template <typename Get>
  void WriteInt64Of(Column column, Get get) {
    int64s_.clear();
    for (const ResultRow& row : batch_) int64s_.push_back(static_cast<int64_t>(get(row)));
    ColumnWriter<parquet::Int64Writer>(column).WriteBatch(BatchSize(), nullptr, nullptr,
                                                          int64s_.data());
  }

  void WriteVariantColumns() {
    records_.clear();
    for (const ResultRow& row : batch_) records_.push_back(variants_[row.variant]);
    const auto write = [&](Column column, auto get) {
      texts_.clear();
      for (const VariantRecord& record : records_) texts_.push_back(View(get(record)));
      WriteText(column, texts_);
    };
    const bool ref_first = schema_.ref_first;
    write(kChrom, [](const VariantRecord& v) { return v.chromosome; });
    write(kId, [](const VariantRecord& v) { return v.id; });
    write(kAllele0,
          [=](const VariantRecord& v) { return ref_first ? v.first_allele : v.second_allele; });
    write(kAllele1,
          [=](const VariantRecord& v) { return ref_first ? v.second_allele : v.first_allele; });
    int64s_.clear();
    for (const VariantRecord& record : records_) int64s_.push_back(record.position);
    ColumnWriter<parquet::Int64Writer>(kGenpos).WriteBatch(BatchSize(), nullptr, nullptr,
                                                           int64s_.data());
    WriteInt64Of(kVariantIndex, [](const ResultRow& row) { return row.variant; });
  }

  template <typename Writer, typename Real>
  void WriteRealColumns() {
    std::vector<Real> values;
    values.reserve(batch_.size());
    const auto required = [&](Column column, double ResultRow::* member) {
      values.clear();
      for (const ResultRow& row : batch_) values.push_back(static_cast<Real>(row.*member));
      ColumnWriter<Writer>(column).WriteBatch(BatchSize(), nullptr, nullptr, values.data());
    };
    const auto nullable = [&](Column column, double ResultRow::* member) {
      values.clear();
      levels_.clear();
      for (const ResultRow& row : batch_) {
        const bool exists = !std::isnan(row.*member);
        levels_.push_back(exists ? 1 : 0);
        if (exists) values.push_back(static_cast<Real>(row.*member));
      }
      ColumnWriter<Writer>(column).WriteBatch(BatchSize(), levels_.data(), nullptr, values.data());
    };
    required(kA1freq, &ResultRow::a1freq);
    nullable(kInfo, &ResultRow::info);
    required(kBeta, &ResultRow::beta);
    required(kSe, &ResultRow::se);
    required(kChisq, &ResultRow::chisq);
    required(kLog10p, &ResultRow::log10p);
    nullable(kInfoRatio, &ResultRow::info_ratio);
  }

  void WriteStatusColumns() {
    int32s_.clear();
    for (const ResultRow& row : batch_) int32s_.push_back(row.n);
    ColumnWriter<parquet::Int32Writer>(kN).WriteBatch(BatchSize(), nullptr, nullptr,
                                                      int32s_.data());
    WriteTextOf(kCorrectionMethod, [](const ResultRow& row) { return MethodName(row.method); });
    WriteTextOf(kCorrectionStatus, [](const ResultRow& row) {
      return row.status == RowStatus::kSuccess ? std::string_view("success") : "failed";
    });
    WriteTextOf(kTest, [&](const ResultRow&) { return std::string_view(schema_.test); });
    WriteTextOf(kStatusReason, [](const ResultRow& row) { return ReasonName(row.status); });
  }

  std::shared_ptr<arrow::KeyValueMetadata> Footer() const {
    const VariantRange part = info_.part;
    return arrow::key_value_metadata(
        {"tallele.schema", "tallele.trait", "tallele.test", "tallele.first_variant",
         "tallele.last_variant", "tallele.rows"},
        {kSchemaVersion, info_.trait, schema_.test, std::to_string(part.first),
         std::to_string(part.first + part.count - 1), std::to_string(num_rows_)});
  }

  std::unique_ptr<AtomicFile> file_;
  std::shared_ptr<AtomicFileStream> stream_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  parquet::RowGroupWriter* group_ = nullptr;  // owned by `writer_`
  const ParquetPartInfo info_;
  const ResultSchema& schema_;
  const VariantIndex& variants_;

  std::vector<ResultRow> batch_;
  size_t num_rows_ = 0;
  std::vector<VariantRecord> records_;
  std::vector<parquet::ByteArray> texts_;
  std::vector<int64_t> int64s_;
  std::vector<int32_t> int32s_;
  std::vector<int16_t> levels_;
};

}  // namespace

Result<std::unique_ptr<ParquetPartWriter>> ParquetPartWriter::Create(const std::string& path,
                                                                     const ParquetPartInfo& info,
                                                                     const ResultSchema& schema,
                                                                     const VariantIndex& variants,
                                                                     FileEnv& env) {
  TALLELE_ASSIGN(auto file, AtomicFile::Create(path, env));
  auto writer = std::make_unique<PartWriter>(std::move(file), info, schema, variants);
  TALLELE_TRY(writer->Open());
  return std::unique_ptr<ParquetPartWriter>(std::move(writer));
}

}  // namespace tallele

#include "results/parquet_part.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/hashing.h"
#include "results/arrow_file_stream.h"
#include "results/trait_output.h"

namespace tallele {
namespace {

constexpr char kSchemaVersion[] = "1";
// Rows of a row group: two groups a part. A trait holds that many rows back (2.4 MB), and a column
// is encoded and compressed in one go; smaller groups cost time, larger ones memory for each trait.
constexpr size_t kGroupRows = 32'768;

using parquet::schema::GroupNode;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

// The columns in the order in which `GroupWriter::WriteAll` writes them.
std::shared_ptr<GroupNode> MakeSchema(const ResultSchema& result) {
  const bool float32 = result.float32_statistics;
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
  NodeVector columns = {
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
  if (result.binary) {
    columns.push_back(PrimitiveNode::Make("N_CASES", required, parquet::Type::INT32));
    columns.push_back(PrimitiveNode::Make("N_CONTROLS", required, parquet::Type::INT32));
    columns.push_back(real("A1FREQ_CASES", parquet::Repetition::OPTIONAL));
    columns.push_back(real("A1FREQ_CONTROLS", parquet::Repetition::OPTIONAL));
  }
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
      ->created_by("tallele")
      ->disable_dictionary();
  for (const char* name : {"CHROM", "ALLELE0", "ALLELE1", "N", "CORRECTION_METHOD",
                           "CORRECTION_STATUS", "TEST", "STATUS_REASON", "N_CASES", "N_CONTROLS"}) {
    builder.enable_dictionary(name);
  }
  for (const char* name : {"A1FREQ", "INFO", "BETA", "SE", "CHISQ", "LOG10P", "INFO_RATIO",
                           "A1FREQ_CASES", "A1FREQ_CONTROLS"}) {
    builder.encoding(name, parquet::Encoding::BYTE_STREAM_SPLIT);
  }
  for (const char* name : {"GENPOS", "VARIANT_INDEX"}) {
    builder.encoding(name, parquet::Encoding::DELTA_BINARY_PACKED);
  }
  builder.encoding("ID", parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY);
  // The smallest and largest of these prune nothing, and cost a comparison a row.
  for (const char* name : {"ID", "ALLELE0", "ALLELE1", "TEST"}) builder.disable_statistics(name);
  return builder.build();
}

// Texts of the enumerations, by value.
constexpr std::string_view kMethodNames[] = {"score", "firth_approximate", "firth_exact", "spa"};
constexpr std::string_view kReasonNames[] = {
    "", "no_variance", "null_failed", "not_converged", "null_firth_failed", "one_tail"};
constexpr std::string_view kStatusNames[] = {"success", "failed"};

void ThrowUnless(const arrow::Status& status) {
  if (!status.ok()) throw parquet::ParquetStatusException(status);
}

// Writes the columns of one row group, one after the other.
class GroupWriter {
 public:
  GroupWriter(parquet::RowGroupWriter& group, std::span<const ResultRow> rows,
              const ResultSchema& schema, const VariantIndex& variants)
      : group_(group), rows_(rows), schema_(schema) {
    records_.reserve(rows.size());
    for (const ResultRow& row : rows) records_.push_back(variants[row.variant]);
  }

  template <typename RealWriter>
  void WriteAll() {
    WriteVariants();
    WriteReal<RealWriter>(&ResultRow::a1freq);
    WriteRealOrNull<RealWriter>(&ResultRow::info);
    Write<parquet::Int32Writer>([](const ResultRow& row) { return row.n; });
    WriteReal<RealWriter>(&ResultRow::beta);
    WriteReal<RealWriter>(&ResultRow::se);
    WriteReal<RealWriter>(&ResultRow::chisq);
    WriteReal<RealWriter>(&ResultRow::log10p);
    WriteCoded(kMethodNames, [](const ResultRow& row) { return static_cast<int>(row.method); });
    WriteCoded(kStatusNames, [](const ResultRow& row) { return HasStatistic(row.status) ? 0 : 1; });
    const std::string_view test[] = {schema_.test};
    WriteCoded(test, [](const ResultRow&) { return 0; });
    WriteRealOrNull<RealWriter>(&ResultRow::info_ratio);
    WriteCoded(kReasonNames, [](const ResultRow& row) { return static_cast<int>(row.status); });
    Write<parquet::Int64Writer>([](const ResultRow& row) { return row.variant; });
    if (!schema_.binary) return;
    Write<parquet::Int32Writer>([](const ResultRow& row) { return row.num_cases; });
    Write<parquet::Int32Writer>([](const ResultRow& row) { return row.n - row.num_cases; });
    WriteRealOrNull<RealWriter>(&ResultRow::a1freq_cases);
    WriteRealOrNull<RealWriter>(&ResultRow::a1freq_controls);
  }

 private:
  void WriteVariants() {
    WriteChromosome();
    WriteRecords<parquet::Int64Writer>([](const VariantRecord& v) { return v.position; });
    WriteText([](const VariantRecord& v) { return v.id; });
    const bool ref_first = schema_.ref_first;
    WriteText([=](const VariantRecord& v) { return ref_first ? v.first_allele : v.second_allele; });
    WriteText([=](const VariantRecord& v) { return ref_first ? v.second_allele : v.first_allele; });
  }

  template <typename Writer, typename Values>
  void WriteColumn(const Values& values, const int16_t* levels = nullptr) {
    parquet::ColumnWriter* column = group_.NextColumn();
    static_cast<Writer*>(column)->WriteBatch(static_cast<int64_t>(rows_.size()), levels, nullptr,
                                             values.data());
    column->Close();
  }

  template <typename Writer, typename Get>
  void Write(Get get) {
    std::vector<typename Writer::T> values;
    values.reserve(rows_.size());
    for (const ResultRow& row : rows_) values.push_back(get(row));
    WriteColumn<Writer>(values);
  }

  template <typename Writer, typename Get>
  void WriteRecords(Get get) {
    std::vector<typename Writer::T> values;
    values.reserve(rows_.size());
    for (const VariantRecord& record : records_) values.push_back(get(record));
    WriteColumn<Writer>(values);
  }

  template <typename Get>
  void WriteText(Get get) {
    WriteRecords<parquet::ByteArrayWriter>(
        [&](const VariantRecord& record) { return parquet::ByteArray(get(record)); });
  }

  template <typename Writer>
  void WriteReal(double ResultRow::* member) {
    Write<Writer>(
        [&](const ResultRow& row) { return static_cast<typename Writer::T>(row.*member); });
  }

  template <typename Writer>
  void WriteRealOrNull(double ResultRow::* member) {
    std::vector<typename Writer::T> values;
    std::vector<int16_t> levels;
    values.reserve(rows_.size());
    levels.reserve(rows_.size());
    for (const ResultRow& row : rows_) {
      const bool exists = !std::isnan(row.*member);
      levels.push_back(exists ? 1 : 0);
      if (exists) values.push_back(static_cast<typename Writer::T>(row.*member));
    }
    WriteColumn<Writer>(values, levels.data());
  }

  // A part lies inside one chromosome run, so there is mostly one label.
  void WriteChromosome() {
    std::vector<std::string_view> labels;
    std::vector<int32_t> codes;
    codes.reserve(rows_.size());
    int32_t code = -1;
    for (const VariantRecord& record : records_) {
      if (code < 0 || labels[static_cast<size_t>(code)] != record.chromosome) {
        const auto found = std::find(labels.begin(), labels.end(), record.chromosome);
        code = static_cast<int32_t>(found - labels.begin());
        if (found == labels.end()) labels.push_back(record.chromosome);
      }
      codes.push_back(code);
    }
    WriteDictionary(labels, codes);
  }

  template <typename Get>
  void WriteCoded(std::span<const std::string_view> texts, Get get) {
    std::vector<int32_t> codes;
    codes.reserve(rows_.size());
    for (const ResultRow& row : rows_) codes.push_back(get(row));
    WriteDictionary(texts, codes);
  }

  // A text column whose values are known as positions in `texts`: no hashing row by row.
  void WriteDictionary(std::span<const std::string_view> texts, const std::vector<int32_t>& codes) {
    arrow::StringBuilder builder;
    for (const std::string_view text : texts) ThrowUnless(builder.Append(text));
    std::shared_ptr<arrow::Array> dictionary;
    ThrowUnless(builder.Finish(&dictionary));
    const auto indices = std::make_shared<arrow::Int32Array>(static_cast<int64_t>(codes.size()),
                                                             arrow::Buffer::Wrap(codes));
    const arrow::DictionaryArray array(arrow::dictionary(arrow::int32(), arrow::utf8()), indices,
                                       dictionary);
    const auto properties = parquet::default_arrow_writer_properties();
    parquet::ArrowWriteContext context(arrow::default_memory_pool(), properties.get());
    parquet::ColumnWriter* column = group_.NextColumn();
    ThrowUnless(column->WriteArrow(nullptr, nullptr, array.length(), array, &context,
                                   /*leaf_field_nullable=*/false));
    column->Close();
  }

  parquet::RowGroupWriter& group_;
  std::span<const ResultRow> rows_;
  const ResultSchema& schema_;
  std::vector<VariantRecord> records_;
};

class PartWriter final : public ParquetPartWriter {
 public:
  PartWriter(std::unique_ptr<AtomicFile> file, const ParquetPartInfo& info,
             const ResultSchema& schema, const VariantIndex& variants)
      : file_(std::move(file)),
        stream_(std::make_shared<AtomicFileStream>(*file_)),
        info_(info),
        schema_(schema),
        variants_(variants) {}

  Result<void> Open() {
    return Guarded([&] {
      writer_ = parquet::ParquetFileWriter::Open(stream_, MakeSchema(schema_), MakeProperties());
    });
  }

  Result<void> Append(std::span<const ResultRow> rows) override {
    while (!rows.empty()) {
      const size_t taken = std::min(rows.size(), kGroupRows - pending_.size());
      pending_.insert(pending_.end(), rows.begin(),
                      rows.begin() + static_cast<std::ptrdiff_t>(taken));
      rows = rows.subspan(taken);
      if (pending_.size() == kGroupRows) TALLELE_TRY(WriteGroup());
    }
    return {};
  }

  Result<PublishedPart> Finish() override {
    if (!pending_.empty()) TALLELE_TRY(WriteGroup());
    TALLELE_TRY(Guarded([&] {
      writer_->AddKeyValueMetadata(Footer());
      writer_->Close();
    }));
    TALLELE_TRY(file_->Commit());
    const std::string& path = file_->path();
    return PublishedPart{path.substr(path.rfind('/') + 1), info_.part, num_rows_,
                         stream_->num_bytes(), stream_->HexDigest()};
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
      Error error = InternalError("cannot encode a Parquet part");
      error.where = file_->path();
      error.found = exception.what();
      return error;
    }
  }

  Result<void> WriteGroup() {
    return Guarded([&] {
      GroupWriter group(*writer_->AppendRowGroup(), pending_, schema_, variants_);
      if (schema_.float32_statistics) {
        group.WriteAll<parquet::FloatWriter>();
      } else {
        group.WriteAll<parquet::DoubleWriter>();
      }
      num_rows_ += pending_.size();
      pending_.clear();
    });
  }

  std::shared_ptr<arrow::KeyValueMetadata> Footer() const {
    const VariantRange part = info_.part;
    return arrow::key_value_metadata(
        {"tallele.schema", "tallele.trait", "tallele.test", "tallele.first_variant",
         "tallele.last_variant", "tallele.rows", "tallele.plan_hash"},
        {kSchemaVersion, info_.trait, schema_.test, std::to_string(part.first),
         std::to_string(part.first + part.count - 1), std::to_string(num_rows_), info_.plan_hash});
  }

  // Destroyed last to first: an unfinished Parquet writer still writes into the file below it.
  std::unique_ptr<AtomicFile> file_;
  std::shared_ptr<AtomicFileStream> stream_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  const ParquetPartInfo info_;
  const ResultSchema& schema_;
  const VariantIndex& variants_;
  std::vector<ResultRow> pending_;
  size_t num_rows_ = 0;
};

}  // namespace

std::string PartSchemaText(const ResultSchema& schema) {
  parquet::SchemaDescriptor descriptor;
  descriptor.Init(MakeSchema(schema));
  return descriptor.ToString();
}

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

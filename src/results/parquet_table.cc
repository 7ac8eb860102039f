#include "results/parquet_table.h"

#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <exception>
#include <utility>

#include "base/atomic_file.h"
#include "results/arrow_file_stream.h"

namespace tallele {
namespace {

using parquet::schema::GroupNode;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

std::shared_ptr<GroupNode> MakeSchema(const std::vector<TableColumn>& columns) {
  constexpr auto kRequired = parquet::Repetition::REQUIRED;
  NodeVector nodes;
  for (const TableColumn& column : columns) {
    if (column.type == TableType::kText) {
      nodes.push_back(PrimitiveNode::Make(column.name, kRequired, parquet::LogicalType::String(),
                                          parquet::Type::BYTE_ARRAY));
    } else {
      nodes.push_back(PrimitiveNode::Make(
          column.name, kRequired,
          column.type == TableType::kReal ? parquet::Type::DOUBLE : parquet::Type::INT64));
    }
  }
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("schema", kRequired, nodes));
}

std::shared_ptr<parquet::WriterProperties> MakeProperties() {
  parquet::WriterProperties::Builder builder;
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->data_page_version(parquet::ParquetDataPageVersion::V2)
      ->compression(parquet::Compression::ZSTD)
      ->compression_level(1)
      ->created_by("tallele");
  return builder.build();
}

void WriteColumn(parquet::ColumnWriter& writer, const TableValues& values) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) {
    std::vector<parquet::ByteArray> views;
    views.reserve(texts->size());
    for (const std::string& text : *texts) {
      views.emplace_back(static_cast<uint32_t>(text.size()),
                         reinterpret_cast<const uint8_t*>(text.data()));
    }
    static_cast<parquet::ByteArrayWriter&>(writer).WriteBatch(static_cast<int64_t>(views.size()),
                                                              nullptr, nullptr, views.data());
  } else if (const auto* reals = std::get_if<std::vector<double>>(&values)) {
    static_cast<parquet::DoubleWriter&>(writer).WriteBatch(static_cast<int64_t>(reals->size()),
                                                           nullptr, nullptr, reals->data());
  } else {
    const auto& integers = std::get<std::vector<int64_t>>(values);
    static_cast<parquet::Int64Writer&>(writer).WriteBatch(static_cast<int64_t>(integers.size()),
                                                          nullptr, nullptr, integers.data());
  }
}

class Writer final : public ParquetTableWriter {
 public:
  Writer(std::unique_ptr<AtomicFile> file, const std::vector<TableColumn>& columns)
      : file_(std::move(file)),
        stream_(std::make_shared<AtomicFileStream>(*file_)),
        writer_(parquet::ParquetFileWriter::Open(stream_, MakeSchema(columns), MakeProperties())) {}

  Result<void> Append(const TableRows& rows) override {
    return Guarded([&] {
      auto* group = writer_->AppendRowGroup();
      for (const TableValues& column : rows) {
        parquet::ColumnWriter* writer = group->NextColumn();
        WriteColumn(*writer, column);
        writer->Close();
      }
      group->Close();
    });
  }

  Result<void> Finish() override {
    TALLELE_TRY(Guarded([&] { writer_->Close(); }));
    return file_->Commit();
  }

 private:
  // Parquet throws; nothing of it may cross our boundary.
  template <typename Work>
  Result<void> Guarded(const Work& work) {
    try {
      work();
    } catch (const std::exception& failure) {
      if (stream_->error()) return *stream_->error();
      Error error = IoError("a Parquet file cannot be written", file_->path(), 0);
      error.found = failure.what();
      return error;
    }
    return {};
  }

  std::unique_ptr<AtomicFile> file_;
  std::shared_ptr<AtomicFileStream> stream_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
};

}  // namespace

Result<std::unique_ptr<ParquetTableWriter>> ParquetTableWriter::Create(
    const std::string& path, std::vector<TableColumn> columns, FileEnv& env) {
  TALLELE_ASSIGN(auto file, AtomicFile::Create(path, env));
  try {
    return std::unique_ptr<ParquetTableWriter>(new Writer(std::move(file), columns));
  } catch (const std::exception& failure) {
    Error error = InternalError("a Parquet file cannot be begun");
    error.where = path;
    error.found = failure.what();
    return error;
  }
}

}  // namespace tallele

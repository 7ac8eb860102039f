#include "results/parquet_part.h"

#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>
#include <parquet/api/reader.h>

#include <cmath>
#include <limits>

#include "results/trait_output.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

VariantIndex SomeVariants() {
  VariantIndex variants;
  variants.Add({"chr1", 10, "rs1", "A", "G", 2});
  variants.Add({"chr1", 4'000'000'000u, "", "ACGT", "T", 2});
  variants.Add({"chr1", 12, "rs3", "C", "G", 2});
  return variants;
}

std::vector<ResultRow> SomeRows() {
  ResultRow good;
  good.n = 7;
  good.a1freq = 0.1;
  good.info = -0.5;
  good.info_ratio = kNan;
  good.beta = 1.0 / 3;
  good.se = 2;
  good.chisq = 1e-300;
  good.log10p = 4000.5;
  ResultRow bad = good;
  bad.variant = 2;
  bad.info = kNan;
  bad.info_ratio = 0.75;
  bad.beta = bad.se = bad.chisq = bad.log10p = kNan;
  bad.status = RowStatus::kNotConverged;
  bad.method = CorrectionMethod::kFirthApproximate;
  ResultRow second = good;
  second.variant = 1;
  return {good, second, bad};
}

class ParquetPart : public testing::Test {
 protected:
  std::unique_ptr<parquet::ParquetFileReader> WriteAndOpen(const std::vector<ResultRow>& rows) {
    const std::string path = folder_.File("part.parquet");
    auto writer =
        std::move(ParquetPartWriter::Create(path, {"BMI", {0, 3}}, schema_, variants_)).value();
    EXPECT_TRUE(writer->Append(rows).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    const auto finished = writer->Finish();
    EXPECT_TRUE(finished.ok());
    return parquet::ParquetFileReader::OpenFile(path);
  }

  template <typename Reader, typename Value>
  static std::vector<Value> Column(parquet::ParquetFileReader& file, int column,
                                   std::vector<int16_t>* levels = nullptr) {
    std::vector<Value> values(3);
    std::vector<int16_t> found(3, 1);
    int64_t num_values = 0;
    auto reader = file.RowGroup(0)->Column(column);
    EXPECT_EQ(static_cast<Reader&>(*reader).ReadBatch(3, found.data(), nullptr, values.data(),
                                                      &num_values),
              3);
    values.resize(static_cast<size_t>(num_values));
    if (levels != nullptr) *levels = found;
    return values;
  }

  static std::vector<std::string> Text(parquet::ParquetFileReader& file, int column) {
    std::vector<std::string> texts(3);
    auto reader = file.RowGroup(0)->Column(column);
    for (std::string& text : texts) {  // one at a time: the bytes live until the next page
      parquet::ByteArray value;
      int64_t num_values = 0;
      static_cast<parquet::ByteArrayReader&>(*reader).ReadBatch(1, nullptr, nullptr, &value,
                                                                &num_values);
      text.assign(reinterpret_cast<const char*>(value.ptr), value.len);
    }
    return texts;
  }

  TempDir folder_;
  VariantIndex variants_ = SomeVariants();
  ResultSchema schema_;
};

// The names, order, types and nullability of association.md 5.2 (doubles by default), then ours.
TEST_F(ParquetPart, HasTheContractsColumns) {
  const auto file = WriteAndOpen(SomeRows());
  const parquet::SchemaDescriptor& schema = *file->metadata()->schema();
  const std::vector<std::string> expected = {"CHROM BYTE_ARRAY",
                                             "GENPOS INT64",
                                             "ID BYTE_ARRAY",
                                             "ALLELE0 BYTE_ARRAY",
                                             "ALLELE1 BYTE_ARRAY",
                                             "A1FREQ DOUBLE",
                                             "INFO DOUBLE null",
                                             "N INT32",
                                             "BETA DOUBLE",
                                             "SE DOUBLE",
                                             "CHISQ DOUBLE",
                                             "LOG10P DOUBLE",
                                             "CORRECTION_METHOD BYTE_ARRAY",
                                             "CORRECTION_STATUS BYTE_ARRAY",
                                             "TEST BYTE_ARRAY",
                                             "INFO_RATIO DOUBLE null",
                                             "STATUS_REASON BYTE_ARRAY",
                                             "VARIANT_INDEX INT64"};
  ASSERT_EQ(schema.num_columns(), static_cast<int>(expected.size()));
  for (int c = 0; c < schema.num_columns(); ++c) {
    const parquet::ColumnDescriptor& column = *schema.Column(c);
    EXPECT_EQ(column.name() + " " + parquet::TypeToString(column.physical_type()) +
                  (column.max_definition_level() > 0 ? " null" : ""),
              expected[static_cast<size_t>(c)]);
    if (column.physical_type() == parquet::Type::BYTE_ARRAY) {
      EXPECT_TRUE(column.logical_type()->is_string()) << column.name();
    }
  }
}

// Values come back bit for bit; missing INFO is null, a missing statistic is NaN.
TEST_F(ParquetPart, RowsComeBack) {
  const auto file = WriteAndOpen(SomeRows());
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Text(*file, 0), (Texts{"chr1", "chr1", "chr1"}));
  EXPECT_EQ((Column<parquet::Int64Reader, int64_t>(*file, 1)),
            (std::vector<int64_t>{10, 4'000'000'000, 12}));
  EXPECT_EQ(Text(*file, 2), (Texts{"rs1", "", "rs3"}));
  EXPECT_EQ(Text(*file, 3), (Texts{"G", "T", "G"}));
  EXPECT_EQ(Text(*file, 4), (Texts{"A", "ACGT", "C"}));
  std::vector<int16_t> levels;
  EXPECT_EQ((Column<parquet::DoubleReader, double>(*file, 6, &levels)),
            (std::vector<double>{-0.5, -0.5}));
  EXPECT_EQ(levels, (std::vector<int16_t>{1, 1, 0}));
  EXPECT_EQ((Column<parquet::Int32Reader, int32_t>(*file, 7)), (std::vector<int32_t>{7, 7, 7}));
  const auto beta = Column<parquet::DoubleReader, double>(*file, 8);
  EXPECT_EQ(beta[0], 1.0 / 3);
  EXPECT_TRUE(std::isnan(beta[2]));
  const auto chisq = Column<parquet::DoubleReader, double>(*file, 10);
  EXPECT_EQ(chisq[1], 1e-300);
  EXPECT_EQ(Text(*file, 12), (Texts{"score", "score", "firth_approximate"}));
  EXPECT_EQ(Text(*file, 13), (Texts{"success", "success", "failed"}));
  EXPECT_EQ(Text(*file, 14), (Texts{"ADD", "ADD", "ADD"}));
  EXPECT_EQ(Text(*file, 16), (Texts{"", "", "not_converged"}));
  EXPECT_EQ((Column<parquet::Int64Reader, int64_t>(*file, 17)), (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(ParquetPart, ReferenceFirstSwapsAllelesAndFloatNarrows) {
  schema_.ref_first = true;
  schema_.float32_statistics = true;
  const auto file = WriteAndOpen(SomeRows());
  EXPECT_EQ(Text(*file, 3), (std::vector<std::string>{"A", "ACGT", "C"}));
  EXPECT_EQ((Column<parquet::FloatReader, float>(*file, 8))[0], static_cast<float>(1.0 / 3));
}

// A part without rows still says what it covers.
TEST_F(ParquetPart, FooterDescribesThePart) {
  const auto file = WriteAndOpen({});
  EXPECT_EQ(file->metadata()->num_rows(), 0);
  EXPECT_EQ(file->metadata()->num_columns(), 18);
  const auto footer = file->metadata()->key_value_metadata();
  EXPECT_EQ(footer->Get("tallele.schema").ValueOrDie(), "1");
  EXPECT_EQ(footer->Get("tallele.trait").ValueOrDie(), "BMI");
  EXPECT_EQ(footer->Get("tallele.test").ValueOrDie(), "ADD");
  EXPECT_EQ(footer->Get("tallele.first_variant").ValueOrDie(), "0");
  EXPECT_EQ(footer->Get("tallele.last_variant").ValueOrDie(), "2");
  EXPECT_EQ(footer->Get("tallele.rows").ValueOrDie(), "0");
}

// The storage choices that keep the files small and every reader able to open them.
TEST_F(ParquetPart, StorageIsZstdWithSplitBytes) {
  const auto file = WriteAndOpen(SomeRows());
  const auto group = file->metadata()->RowGroup(0);
  const auto has = [&](int column, parquet::Encoding::type encoding) {
    const std::vector<parquet::Encoding::type> found = group->ColumnChunk(column)->encodings();
    return std::find(found.begin(), found.end(), encoding) != found.end();
  };
  for (int c = 0; c < 18; ++c) {
    EXPECT_EQ(group->ColumnChunk(c)->compression(), parquet::Compression::ZSTD);
  }
  for (const int c : {5, 6, 8, 9, 10, 11, 15}) {
    EXPECT_TRUE(has(c, parquet::Encoding::BYTE_STREAM_SPLIT)) << c;
  }
  for (const int c : {0, 3, 4, 7, 12, 13, 14, 16}) {
    EXPECT_TRUE(has(c, parquet::Encoding::RLE_DICTIONARY)) << c;
  }
}

}  // namespace
}  // namespace tallele

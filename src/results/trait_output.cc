#include "results/trait_output.h"

#include <algorithm>

#include "results/output_paths.h"
#include "results/parquet_part.h"
#include "results/regenie_text.h"
#include "results/text_file.h"

namespace tallele {
namespace {

class FileTraitOutput final : public TraitOutput {
 public:
  FileTraitOutput(const OutputRequest& request, const ResultSchema& schema, size_t trait_number,
                  const std::string& trait, const VariantIndex& variants)
      : schema_(schema), variants_(variants), text_(schema_, variants), grid_(PartGrid(variants)) {
    files_.trait = trait;
    if (request.parquet) {
      files_.parquet_directory =
          RunDirectory(request) + "/" + TraitDirectoryName(trait_number, trait) + "/parts";
    }
    if (request.regenie_text) files_.text_file = RegenieTextPath(request.prefix, trait, request.gzip);
    gzip_ = request.gzip;
  }

  Result<void> Open() {
    if (!files_.parquet_directory.empty()) {
      TALLELE_TRY(PosixFileEnv().CreateFolders(files_.parquet_directory));
    }
    if (files_.text_file.empty()) return {};
    TALLELE_ASSIGN(text_file_, TextFile::Create(files_.text_file, gzip_));
    text_.AppendHeader(lines_);
    return {};
  }

  Result<void> Append(const ResultTable& table) override {
    if (table.rows.empty()) return {};
    files_.num_rows += table.rows.size();
    if (!files_.parquet_directory.empty()) {
      TALLELE_TRY(OpenPart(PartOf(table.rows.front().variant)));
      TALLELE_TRY(part_->Append(table.rows));
    }
    if (text_file_ == nullptr) return {};
    for (const ResultRow& row : table.rows) text_.AppendRow(row, lines_);
    return FlushLines();
  }

  Result<void> FinishPart(VariantRange part) override {
    if (files_.parquet_directory.empty()) return {};
    TALLELE_TRY(OpenPart(part));
    TALLELE_TRY(part_->Finish());
    part_.reset();
    return {};
  }

  Result<TraitFiles> Finish() override {
    if (text_file_ != nullptr) {
      TALLELE_TRY(FlushLines());
      TALLELE_TRY(text_file_->Commit());
      text_file_.reset();
    }
    return files_;
  }

 private:
  VariantRange PartOf(size_t variant) const {
    const auto after = std::upper_bound(
        grid_.begin(), grid_.end(), variant,
        [](size_t v, const VariantRange& part) { return v < part.first; });
    return *(after - 1);
  }

  Result<void> OpenPart(VariantRange part) {
    if (part_ != nullptr) return {};
    TALLELE_ASSIGN(part_, CreateParquetPart(files_.parquet_directory + "/" + PartFileName(part),
                                            schema_, variants_, {files_.trait, part}));
    return {};
  }

  Result<void> FlushLines() {
    TALLELE_TRY(text_file_->Append(lines_));
    lines_.clear();
    return {};
  }

  ResultSchema schema_;
  const VariantIndex& variants_;
  RegenieText text_;
  std::vector<VariantRange> grid_;
  TraitFiles files_;
  bool gzip_ = false;
  std::unique_ptr<ParquetPart> part_;
  std::unique_ptr<TextFile> text_file_;
  std::string lines_;
};

}  // namespace

Result<std::unique_ptr<TraitOutput>> OpenTraitOutput(const OutputRequest& request,
                                                     const ResultSchema& schema,
                                                     size_t trait_number, const std::string& trait,
                                                     const VariantIndex& variants) {
  auto output =
      std::make_unique<FileTraitOutput>(request, schema, trait_number, trait, variants);
  TALLELE_TRY(output->Open());
  return std::unique_ptr<TraitOutput>(std::move(output));
}

}  // namespace tallele

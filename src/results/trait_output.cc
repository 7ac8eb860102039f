#include "results/trait_output.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "results/output_paths.h"
#include "results/parquet_part.h"
#include "results/run_folder.h"
#include "results/text_file.h"
#include "results/trait_text.h"

namespace tallele {
namespace {

// The Parquet dataset of a trait: one file for each part of the grid.
class ParquetDataset {
 public:
  ParquetDataset(std::string parts_folder, std::string trait, const OutputRequest& request,
                 const ResultSchema& schema, const VariantIndex& variants, FileEnv& env)
      : parts_folder_(std::move(parts_folder)),
        trait_(std::move(trait)),
        plan_hash_(request.plan_hash),
        schema_(schema),
        variants_(variants),
        grid_(PartGrid(variants, request.variants_per_part)),
        env_(env) {}

  Result<void> Append(std::span<const ResultRow> rows) {
    if (rows.empty()) return {};
    const VariantRange part = PartOf(rows.front().variant);
    if (rows.back().variant >= part.first + part.count) {
      return InternalError("rows of two parts of the grid were handed over at once");
    }
    TALLELE_TRY(OpenPart(part));
    return writer_->Append(rows);
  }

  Result<PublishedPart> FinishPart(VariantRange part) {
    TALLELE_TRY(OpenPart(PartOf(part.first)));
    TALLELE_ASSIGN(PublishedPart published, writer_->Finish());
    writer_.reset();
    open_.reset();
    return published;
  }

  const std::optional<VariantRange>& open_part() const { return open_; }

 private:
  // The part of the grid that holds `variant`.
  VariantRange PartOf(size_t variant) const {
    const auto after =
        std::upper_bound(grid_.begin(), grid_.end(), variant,
                         [](size_t v, const VariantRange& part) { return v < part.first; });
    return after == grid_.begin() ? VariantRange{} : *std::prev(after);
  }

  Result<void> OpenPart(VariantRange part) {
    if (open_ && open_->first == part.first) return {};
    if (open_) return InternalError("a part of the results was begun before the last was finished");
    if (part.count == 0) return InternalError("results for variants that the file does not have");
    const std::string path = parts_folder_ + "/" + PartFileName(part);
    TALLELE_ASSIGN(writer_, ParquetPartWriter::Create(path, {trait_, part, plan_hash_}, schema_,
                                                      variants_, env_));
    open_ = part;
    return {};
  }

  const std::string parts_folder_;
  const std::string trait_;
  const std::string plan_hash_;
  const ResultSchema& schema_;
  const VariantIndex& variants_;
  const std::vector<VariantRange> grid_;
  FileEnv& env_;
  std::optional<VariantRange> open_;
  std::unique_ptr<ParquetPartWriter> writer_;
};

// Parquet, text, or both.
class TraitFilesOutput final : public TraitOutput {
 public:
  TraitFilesOutput(const ResultSchema& schema, const VariantIndex& variants, std::string trait)
      : schema_(schema), variants_(variants) {
    files_.trait = std::move(trait);
  }

  Result<void> OpenParquet(const OutputRequest& request, const std::string& trait_directory,
                           FileEnv& env) {
    const std::string parts_folder = trait_directory + "/parts";
    TALLELE_TRY(env.CreateFolders(parts_folder));
    files_.parquet_directory = parts_folder;
    dataset_.emplace(parts_folder, files_.trait, request, schema_, variants_, env);
    if (request.kept_text.empty() || !request.split) return {};
    TALLELE_ASSIGN(kept_, KeptTextWriter::Create(trait_directory + "/" + kTextFolderName,
                                                 request.kept_text, env));
    return {};
  }

  Result<void> OpenText(const std::string& path, bool gzip, FileEnv& env) {
    TALLELE_ASSIGN(text_file_, TextFile::Create(path, gzip, env));
    files_.text_file = path;
    text_ = MakeTraitText(schema_, files_.trait, variants_);
    text_->AppendHeader(lines_);
    return WriteLines();
  }

  Result<void> Append(const ResultTable& table) override {
    files_.num_rows += table.rows.size();
    if (dataset_) TALLELE_TRY(dataset_->Append(table.rows));
    MakeLines(table);
    if (kept_ && !lines_.empty()) TALLELE_TRY(kept_->Append(*dataset_->open_part(), lines_));
    return WriteLines();
  }

  Result<std::optional<PublishedPart>> FinishPart(VariantRange part) override {
    if (!dataset_) return std::optional<PublishedPart>();
    std::optional<KeptText> text;
    if (kept_) {
      TALLELE_ASSIGN(text, kept_->Finish(part));
    }
    TALLELE_ASSIGN(PublishedPart published, dataset_->FinishPart(part));
    published.text = std::move(text);
    return std::optional(std::move(published));
  }

  Result<void> Restore(const ResultTable& table, const std::string* kept) override {
    files_.num_rows += table.rows.size();
    if (kept != nullptr) return text_file_->Append(*kept);
    MakeLines(table);
    return WriteLines();
  }

  Result<TraitFiles> Finish() override {
    if (dataset_ && dataset_->open_part()) {
      return InternalError("the last part of the results was not finished");
    }
    if (text_file_) TALLELE_TRY(text_file_->Commit());
    return files_;
  }

 private:
  void MakeLines(const ResultTable& table) {
    if (!text_file_) return;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      text_->AppendRow(table.rows[i], table.counts.empty() ? nullptr : &table.counts[i], lines_);
    }
  }

  Result<void> WriteLines() {
    if (!text_file_) return {};
    TALLELE_TRY(text_file_->Append(lines_));
    lines_.clear();
    return {};
  }

  const ResultSchema schema_;
  const VariantIndex& variants_;
  TraitFiles files_;
  std::optional<ParquetDataset> dataset_;
  std::unique_ptr<TextFile> text_file_;
  std::unique_ptr<TraitText> text_;
  std::unique_ptr<KeptTextWriter> kept_;  // null: text can be made from parts
  std::string lines_;
};

}  // namespace

Result<std::unique_ptr<TraitOutput>> OpenTraitOutput(const OutputRequest& request,
                                                     const ResultSchema& schema,
                                                     size_t trait_number, const std::string& trait,
                                                     const VariantIndex& variants, FileEnv& env) {
  auto output = std::make_unique<TraitFilesOutput>(schema, variants, trait);
  if (request.parquet) {
    const std::string folder =
        RunDirectory(request) + "/" + TraitDirectoryName(trait_number, trait);
    TALLELE_TRY(output->OpenParquet(request, folder, env));
  }
  if (request.regenie_text && request.split) {
    const std::string path = RegenieTextPath(request.prefix, trait, request.gzip);
    TALLELE_TRY(output->OpenText(path, request.gzip, env));
  }
  return std::unique_ptr<TraitOutput>(std::move(output));
}

}  // namespace tallele

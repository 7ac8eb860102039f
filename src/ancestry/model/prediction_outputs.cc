#include "ancestry/model/prediction_outputs.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "base/format_number.h"
#include "results/parquet_table.h"
#include "results/text_file.h"

namespace tallele {
namespace {

constexpr char kUnassigned[] = "unassigned";

// One row of the table before it is text or Parquet.
struct TableRow {
  PersonCall call;
  std::string label;
  std::string reason;  // "." when assigned
  int64_t label_index = -1;
};

class OutputWriter {
 public:
  OutputWriter(const PredictionOutputs& outputs, PredictSummary& summary)
      : o_(outputs),
        names_(outputs.packages.front().inputs->class_names),
        overlap_(static_cast<int64_t>(outputs.rows.model_snps().size())),
        summary_(summary) {}

  Result<void> Run() {
    TALLELE_TRY(WriteTables());
    if (!o_.request.save_logits.empty()) TALLELE_TRY(WriteLogits());
    if (!o_.request.save_hidden.empty()) TALLELE_TRY(WriteHidden());
    if (!o_.request.upstream_prefix.empty()) {
      for (size_t m = 0; m < o_.packages.size(); ++m) TALLELE_TRY(WriteUpstreamModel(m));
    }
    return {};
  }

  std::vector<TableColumn> Columns() const {
    std::vector<TableColumn> columns = {{"FID", TableType::kText},
                                        {"IID", TableType::kText},
                                        {"predicted_class", TableType::kText},
                                        {"predicted_index", TableType::kInteger},
                                        {"max_probability", TableType::kReal},
                                        {"model_agreement", TableType::kReal},
                                        {"votes", TableType::kText},
                                        {"vote_class", TableType::kText},
                                        {"mean_class", TableType::kText},
                                        {"second_class", TableType::kText},
                                        {"second_probability", TableType::kReal},
                                        {"entropy", TableType::kReal},
                                        {"overlap_snps", TableType::kInteger},
                                        {"scale", TableType::kReal},
                                        {"unassigned_reason", TableType::kText}};
    for (const std::string& name : names_) columns.push_back({"prob_" + name, TableType::kReal});
    if (o_.request.per_model_columns) {
      for (const ModelPackage& package : o_.packages) {
        columns.push_back({package.Name(), TableType::kText});
      }
    }
    return columns;
  }

 private:
  TableRow MakeRow(const PredictionBlock& block, size_t person) const {
    const size_t scores = o_.packages.size() * names_.size();
    TableRow row;
    row.call = CombineModels({block.probabilities.data() + person * scores, scores}, names_.size());
    row.reason = UnassignedReason(row.call, o_.request.limits, overlap_);
    if (row.reason.empty()) {
      row.reason = ".";
      row.label_index = o_.request.limits.label_by_mean ? row.call.mean_class : row.call.vote_class;
      row.label = names_[static_cast<size_t>(row.label_index)];
    } else {
      row.label = kUnassigned;
    }
    return row;
  }

  void Count(const TableRow& row) {
    summary_.num_disagreeing += row.call.vote_class != row.call.mean_class;
    if (row.label_index < 0) {
      ++summary_.num_unassigned;
    } else {
      ++summary_.class_counts[static_cast<size_t>(row.label_index)];
    }
  }

  // The cells of a row in the order of Columns().
  std::vector<std::variant<std::string, double, int64_t>> Cells(const TableRow& row,
                                                                size_t person) const {
    const CohortPerson& who = o_.rows.people()[person];
    const PersonCall& call = row.call;
    std::vector<std::variant<std::string, double, int64_t>> cells = {
        who.family,
        who.individual,
        row.label,
        row.label_index,
        call.top_probability,
        static_cast<double>(call.vote_count) / static_cast<double>(o_.packages.size()),
        VoteText(call, names_),
        names_[call.vote_class],
        names_[call.mean_class],
        names_[call.second_class],
        call.second_probability,
        call.entropy,
        overlap_,
        o_.scale,
        row.reason};
    for (const double p : call.mean_probabilities) cells.emplace_back(p);
    if (o_.request.per_model_columns) {
      for (const uint32_t c : call.model_classes) cells.emplace_back(names_[c]);
    }
    return cells;
  }

  static void AppendLine(const std::vector<std::variant<std::string, double, int64_t>>& cells,
                         std::string& out) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += '\t';
      if (const auto* text = std::get_if<std::string>(&cells[i])) {
        out += *text;
      } else if (const auto* real = std::get_if<double>(&cells[i])) {
        AppendSixDigits(*real, out);
      } else {
        AppendInteger(std::get<int64_t>(cells[i]), out);
      }
    }
    out += '\n';
  }

  static TableRows EmptyRows(const std::vector<TableColumn>& columns) {
    TableRows rows;
    for (const TableColumn& column : columns) {
      switch (column.type) {
        case TableType::kText:
          rows.emplace_back(std::vector<std::string>());
          break;
        case TableType::kReal:
          rows.emplace_back(std::vector<double>());
          break;
        case TableType::kInteger:
          rows.emplace_back(std::vector<int64_t>());
          break;
      }
    }
    return rows;
  }

  static void AppendCells(std::vector<std::variant<std::string, double, int64_t>>& cells,
                          TableRows& rows) {
    for (size_t i = 0; i < cells.size(); ++i) {
      std::visit(
          [&](auto& cell) {
            using Cell = std::remove_reference_t<decltype(cell)>;
            std::get<std::vector<Cell>>(rows[i]).push_back(std::move(cell));
          },
          cells[i]);
    }
  }

  // TSV, Parquet and upstream's combined table in one pass over the blocks.
  Result<void> WriteTables() {
    const std::vector<TableColumn> columns = Columns();
    std::unique_ptr<TextFile> text, combined;
    std::unique_ptr<ParquetTableWriter> parquet;
    if (!o_.request.out.empty()) {
      TALLELE_ASSIGN(text, TextFile::Create(o_.request.out, o_.request.out.ends_with(".gz")));
      std::string header;
      for (const TableColumn& column : columns) {
        header += (header.empty() ? "" : "\t") + column.name;
      }
      TALLELE_TRY(text->Append(header + "\n"));
    }
    if (!o_.request.parquet.empty()) {
      TALLELE_ASSIGN(parquet, ParquetTableWriter::Create(o_.request.parquet, columns));
    }
    if (!o_.request.upstream_prefix.empty()) {
      TALLELE_ASSIGN(combined, TextFile::Create(UpstreamTable(), false));
      TALLELE_TRY(combined->Append(UpstreamHeader()));
    }
    summary_.class_names = names_;
    summary_.class_counts.assign(names_.size(), 0);
    for (size_t b = 0; b < o_.blocks.num_blocks(); ++b) {
      TALLELE_ASSIGN(const PredictionBlock block, o_.blocks.Read(b));
      TableRows rows = EmptyRows(columns);
      std::string lines, upstream;
      for (size_t r = 0; r < block.num_people; ++r) {
        const TableRow row = MakeRow(block, r);
        Count(row);
        auto cells = Cells(row, block.first + r);
        AppendLine(cells, lines);
        if (combined) upstream += UpstreamLine(row.call, block.first + r);
        if (parquet) AppendCells(cells, rows);
      }
      if (text) TALLELE_TRY(text->Append(lines));
      if (combined) TALLELE_TRY(combined->Append(upstream));
      if (parquet) TALLELE_TRY(parquet->Append(rows));
    }
    if (text) TALLELE_TRY(Publish(*text));
    if (combined) TALLELE_TRY(Publish(*combined));
    if (parquet) {
      TALLELE_TRY(parquet->Finish());
      summary_.files.push_back(o_.request.parquet);
    }
    return {};
  }

  Result<void> Publish(TextFile& file) {
    TALLELE_TRY(file.Commit());
    summary_.files.push_back(file.path());
    return {};
  }

  std::string UpstreamTable() const {
    return o_.request.upstream_prefix + "_dietnet_predictions.txt";
  }
  std::string UpstreamHeader() const {
    std::string header = "samples";
    for (size_t m = 1; m <= o_.packages.size(); ++m) header += fmt::format("\tmodel{}", m);
    return header + "\tall_models\n";
  }
  std::string UpstreamLine(const PersonCall& call, size_t person) const {
    std::string line = o_.rows.people()[person].individual;
    for (const uint32_t c : call.model_classes) line += "\t" + names_[c];
    return line + "\t" + VoteTextByName(call, names_) + "\n";
  }

  std::vector<std::string> Samples() const {
    std::vector<std::string> samples;
    for (const CohortPerson& person : o_.rows.people()) samples.push_back(person.individual);
    return samples;
  }
  std::vector<std::string> ModelNames() const {
    std::vector<std::string> models;
    for (const ModelPackage& package : o_.packages) models.push_back(package.Name());
    return models;
  }
  int64_t NumPeople() const { return static_cast<int64_t>(o_.rows.people().size()); }

  // An .npy member whose data come block by block from `bytes_of`.
  Result<void> AddArray(StoredZipWriter& zip, const std::string& name, std::string_view type,
                        const std::vector<int64_t>& shape,
                        const std::function<std::string(const PredictionBlock&)>& bytes_of) const {
    return zip.AddInPieces(name + ".npy", [&](const StoredZipWriter::PieceSink& sink) {
      Result<void> done = sink(WriteNpyHeader(type, shape));
      for (size_t b = 0; done && b < o_.blocks.num_blocks(); ++b) {
        auto block = o_.blocks.Read(b);
        done = block ? sink(bytes_of(*block)) : Result<void>(std::move(block).error());
      }
      return done;
    });
  }

  template <typename T>
  static std::string Raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }

  Result<void> WriteLogits() {
    TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(o_.request.save_logits));
    TALLELE_TRY(zip.Add("samples.npy", WriteNpyUnicode(Samples())));
    TALLELE_TRY(zip.Add("models.npy", WriteNpyUnicode(ModelNames())));
    TALLELE_TRY(zip.Add("class_label_names.npy", WriteNpyUnicode(names_)));
    TALLELE_TRY(AddArray(zip, "logits", "<f4",
                         {NumPeople(), static_cast<int64_t>(o_.packages.size()),
                          static_cast<int64_t>(names_.size())},
                         [](const PredictionBlock& block) { return Raw(block.logits); }));
    TALLELE_TRY(zip.Finish());
    summary_.files.push_back(o_.request.save_logits);
    return {};
  }

  Result<void> WriteHidden() {
    const size_t width =
        std::accumulate(o_.hidden_widths.begin(), o_.hidden_widths.end(), size_t{0});
    std::vector<int64_t> widths(o_.hidden_widths.begin(), o_.hidden_widths.end());
    const int64_t models[] = {static_cast<int64_t>(widths.size())};
    TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(o_.request.save_hidden));
    TALLELE_TRY(zip.Add("samples.npy", WriteNpyUnicode(Samples())));
    TALLELE_TRY(zip.Add("models.npy", WriteNpyUnicode(ModelNames())));
    TALLELE_TRY(zip.Add("widths.npy", WriteNpy(widths, models)));
    TALLELE_TRY(AddArray(zip, "hidden", "<f4", {NumPeople(), static_cast<int64_t>(width)},
                         [](const PredictionBlock& block) { return Raw(block.hidden); }));
    TALLELE_TRY(zip.Finish());
    summary_.files.push_back(o_.request.save_hidden);
    return {};
  }

  // The file of upstream's model f_r: r counts the models of a fold.
  std::string UpstreamModelPath(size_t m) const {
    int repeat = 1;
    for (size_t before = 0; before < m; ++before) {
      repeat += o_.packages[before].fold == o_.packages[m].fold;
    }
    const std::filesystem::path prefix(o_.request.upstream_prefix);
    return fmt::format("{}_DIETNET_RESULTS_BY_MODEL/{}_model{}_{}_infered.npz",
                       o_.request.upstream_prefix, prefix.filename().string(),
                       o_.packages[m].fold + 1, repeat);
  }

  Result<void> WriteUpstreamModel(size_t m) {
    const std::string path = UpstreamModelPath(m);
    TALLELE_TRY(PosixFileEnv().CreateFolders(FolderOf(path)));
    const size_t classes = names_.size();
    const size_t width = o_.hidden_widths[m];
    const auto first_unit = static_cast<size_t>(std::accumulate(
        o_.hidden_widths.begin(), o_.hidden_widths.begin() + static_cast<ptrdiff_t>(m), size_t{0}));
    const size_t all_units =
        std::accumulate(o_.hidden_widths.begin(), o_.hidden_widths.end(), size_t{0});
    const auto scores_of = [&](const PredictionBlock& block, size_t r) {
      return block.probabilities.data() + (r * o_.packages.size() + m) * classes;
    };
    TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(path));
    TALLELE_TRY(zip.Add("samples.npy", WriteNpyUnicode(Samples())));
    TALLELE_TRY(AddArray(zip, "preds", "<f8", {NumPeople()}, [&](const PredictionBlock& block) {
      std::vector<double> best;
      for (size_t r = 0; r < block.num_people; ++r) {
        const double* scores = scores_of(block, r);
        best.push_back(static_cast<double>(std::max_element(scores, scores + classes) - scores));
      }
      return Raw(best);
    }));
    TALLELE_TRY(AddArray(zip, "scores", "<f8", {NumPeople(), static_cast<int64_t>(classes)},
                         [&](const PredictionBlock& block) {
                           std::vector<double> scores;
                           for (size_t r = 0; r < block.num_people; ++r) {
                             const double* from = scores_of(block, r);
                             scores.insert(scores.end(), from, from + classes);
                           }
                           return Raw(scores);
                         }));
    TALLELE_TRY(AddArray(zip, "last_hidden_layer", "<f8",
                         {NumPeople(), static_cast<int64_t>(width)},
                         [&](const PredictionBlock& block) {
                           std::vector<double> units;
                           for (size_t r = 0; r < block.num_people; ++r) {
                             const float* from = block.hidden.data() + r * all_units + first_unit;
                             units.insert(units.end(), from, from + width);
                           }
                           return Raw(units);
                         }));
    TALLELE_TRY(zip.Finish());
    summary_.files.push_back(path);
    return {};
  }

  const PredictionOutputs& o_;
  const std::vector<std::string>& names_;
  int64_t overlap_;
  PredictSummary& summary_;
};

}  // namespace

Result<void> WritePredictionOutputs(const PredictionOutputs& outputs, PredictSummary& summary) {
  return OutputWriter(outputs, summary).Run();
}

}  // namespace tallele

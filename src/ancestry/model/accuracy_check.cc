#include "ancestry/model/accuracy_check.h"

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "ancestry/model/ensemble.h"
#include "ancestry/partition.h"
#include "base/format_number.h"
#include "base/machine.h"
#include "base/text_reader.h"

namespace tallele {
namespace {

constexpr size_t kPeopleAtOnce = 256;

// Runs the models of one fold over its test people.
class FoldCheck {
 public:
  FoldCheck(const TrainingDataset& dataset, const PackageCheckRequest& request)
      : dataset_(dataset), request_(request) {}

  Result<std::vector<AccuracyReport>> Run(const std::vector<ModelPackage>& models) {
    TALLELE_ASSIGN(const std::vector<int64_t> rows, TestRows(models.front()));
    std::vector<uint32_t> snps(dataset_.num_snps());
    for (size_t j = 0; j < snps.size(); ++j) snps[j] = static_cast<uint32_t>(j);
    EnsembleOptions options;
    options.target = request_.target;
    TALLELE_ASSIGN(const Ensemble ensemble, Ensemble::Create(models, snps, options));
    std::vector<AccuracyReport> reports;
    for (const ModelPackage& model : models) {
      reports.emplace_back(model.Name(), model.inputs->class_names);
    }
    for (size_t first = 0; first < rows.size(); first += kPeopleAtOnce) {
      const size_t count = std::min(kPeopleAtOnce, rows.size() - first);
      TALLELE_TRY(Score(ensemble, {rows.data() + first, count}, reports));
    }
    return reports;
  }

 private:
  Result<std::vector<int64_t>> TestRows(const ModelPackage& model) const {
    if (!request_.partition.empty()) {
      TALLELE_ASSIGN(std::vector<Fold> folds,
                     ReadPartition(request_.partition, dataset_.samples()));
      TALLELE_TRY(CheckFold(model.fold, folds.size(), request_.partition));
      return std::move(folds[static_cast<size_t>(model.fold)][2]);
    }
    const std::vector<int64_t>& rows = model.inputs->test_rows;
    if (rows.empty()) {
      return InputError("the package does not say who was held out", model.path,
                        "Give --partition FILE of the training.");
    }
    if (model.inputs->dataset_people > static_cast<int64_t>(dataset_.num_people())) {
      return InputError("the dataset has fewer people than the model's training data",
                        dataset_.path(), "Give the dataset that the model was trained on.");
    }
    return rows;
  }

  Result<void> Score(const Ensemble& ensemble, std::span<const int64_t> people,
                     std::vector<AccuracyReport>& reports) {
    PackedRows rows;
    rows.num_snps = dataset_.num_snps();
    rows.num_rows = people.size();
    rows.stride = PackedRowStride(rows.num_snps);
    packed_.Resize(people.size() * rows.stride);
    auto* data = reinterpret_cast<uint8_t*>(packed_.data());
    rows.data = data;
    TALLELE_TRY(dataset_.ReadRows(people, {data, people.size() * rows.stride}));
    ensemble.Evaluate(rows, false, workspace_, block_);
    const size_t classes = ensemble.num_classes();
    for (size_t r = 0; r < people.size(); ++r) {
      const auto truth = static_cast<size_t>(dataset_.labels()[static_cast<size_t>(people[r])]);
      for (size_t m = 0; m < reports.size(); ++m) {
        const double* p = block_.probabilities.data() + (r * reports.size() + m) * classes;
        reports[m].Add(truth, static_cast<size_t>(std::max_element(p, p + classes) - p));
      }
    }
    return {};
  }

  const TrainingDataset& dataset_;
  const PackageCheckRequest& request_;
  AlignedBuffer packed_;
  Ensemble::Workspace workspace_;
  EnsembleBlock block_;
};

Result<void> CheckDataset(const std::vector<ModelPackage>& packages,
                          const TrainingDataset& dataset) {
  const FoldInputs& inputs = *packages.front().inputs;
  if (dataset.num_snps() != inputs.num_snps()) {
    Error error = InputError("the dataset does not have the model's SNPs", dataset.path(),
                             "Give the dataset that the model was trained on.");
    error.found = fmt::format("{} SNPs", dataset.num_snps());
    error.expected = fmt::format("{}", inputs.num_snps());
    return error;
  }
  if (dataset.class_names() != inputs.class_names) {
    return InputError("the dataset does not have the model's classes in the same order",
                      dataset.path(),
                      "Give the dataset that the model was trained on, or import "
                      "the model with its class names.");
  }
  return {};
}

size_t ColumnOf(const std::vector<std::string_view>& header,
                std::initializer_list<std::string_view> names, size_t otherwise) {
  for (const std::string_view name : names) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<size_t>(found - header.begin());
  }
  return otherwise;
}

// "ACB(2),ASW(13)": the label with most votes, the first of equals.
std::string MostVotes(std::string_view cell) {
  std::string best;
  long most = 0;
  while (!cell.empty()) {
    const size_t comma = std::min(cell.find(','), cell.size());
    const std::string_view token = cell.substr(0, comma);
    cell.remove_prefix(std::min(comma + 1, cell.size()));
    const size_t open = token.find('(');
    if (open == std::string_view::npos) continue;
    const long votes = std::strtol(std::string(token.substr(open + 1)).c_str(), nullptr, 10);
    if (votes > most) {
      most = votes;
      best = token.substr(0, open);
    }
  }
  return best;
}

constexpr size_t kNoColumn = std::numeric_limits<size_t>::max();

// Fills sample -> text of one column. People without a label are left out; a sample twice is an
// error that tells both lines.
Result<std::map<std::string, std::string>> ReadColumn(const std::string& path,
                                                      const std::string& column, bool predictions) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path));
  std::string_view line;
  TALLELE_ASSIGN(const bool any, reader->Next(&line));
  if (!any) return InputError("the table is empty", path);
  std::vector<std::string_view> cells;
  SplitTabs(line, cells);
  const size_t id = ColumnOf(cells, {"IID", "sample_id", "samples"}, 0);
  size_t value = 1;
  bool votes = false;
  if (predictions) {
    value = ColumnOf(cells, {"predicted_class"}, kNoColumn);
    if (value == kNoColumn) {
      value = ColumnOf(cells, {"all_models"}, kNoColumn);
      votes = true;
    }
    if (value == kNoColumn) {
      return InputError("the table has no column predicted_class or all_models", path);
    }
  } else if (!column.empty()) {
    value = ColumnOf(cells, {column}, kNoColumn);
    if (value == kNoColumn) return InputError("the table has no column " + column, path);
  }
  std::map<std::string, std::string> found;
  std::map<std::string, int64_t> lines;
  for (;;) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) return found;
    if (Trim(line).empty()) continue;
    SplitTabs(line, cells);
    if (cells.size() <= std::max(id, value)) {
      return InputError("a line has too few columns", reader->Where());
    }
    std::string text = votes ? MostVotes(cells[value]) : std::string(cells[value]);
    const auto [earlier, added] = lines.emplace(std::string(cells[id]), reader->line_number());
    if (!added) {
      return InputError(fmt::format("this sample already stood on line {}", earlier->second),
                        reader->Where(), "Keep one line for each sample.");
    }
    if (!predictions && (text.empty() || text == "NA")) continue;
    found.emplace(earlier->first, std::move(text));
  }
}

}  // namespace

AccuracyReport::AccuracyReport(std::string report_name, std::vector<std::string> names)
    : name(std::move(report_name)),
      class_names(std::move(names)),
      confusion(class_names.size(), std::vector<size_t>(class_names.size() + 1)) {}

size_t AccuracyReport::people_of(size_t truth) const {
  size_t people = 0;
  for (const size_t count : confusion[truth]) people += count;
  return people;
}

size_t AccuracyReport::num_people() const {
  size_t people = 0;
  for (size_t c = 0; c < class_names.size(); ++c) people += people_of(c);
  return people;
}

size_t AccuracyReport::num_correct() const {
  size_t correct = 0;
  for (size_t c = 0; c < class_names.size(); ++c) correct += confusion[c][c];
  return correct;
}

double AccuracyReport::accuracy() const {
  return num_people() == 0 ? std::numeric_limits<double>::quiet_NaN()
                           : static_cast<double>(num_correct()) / static_cast<double>(num_people());
}

std::string FormatReport(const AccuracyReport& report) {
  std::string text = fmt::format("# {}\nclass\tpeople\tcorrect\taccuracy\n", report.name);
  for (size_t c = 0; c < report.class_names.size(); ++c) {
    const size_t people = report.people_of(c);
    const size_t correct = report.confusion[c][c];
    text += fmt::format(
        "{}\t{}\t{}\t{}\n", report.class_names[c], people, correct,
        people == 0 ? "NA"
                    : FormatSixDigits(static_cast<double>(correct) / static_cast<double>(people)));
  }
  text += fmt::format("all\t{}\t{}\t{}\n\ntruth \\ called", report.num_people(),
                      report.num_correct(), FormatSixDigits(report.accuracy()));
  for (const std::string& name : report.class_names) text += "\t" + name;
  text += "\tother\n";
  for (size_t c = 0; c < report.class_names.size(); ++c) {
    text += report.class_names[c];
    for (const size_t count : report.confusion[c]) text += fmt::format("\t{}", count);
    text += '\n';
  }
  return text;
}

Result<std::vector<AccuracyReport>> CheckPackages(const std::vector<ModelPackage>& packages,
                                                  const TrainingDataset& dataset,
                                                  const PackageCheckRequest& request,
                                                  EventSink& sink, const CancelToken& cancel) {
  TALLELE_TRY(CheckDataset(packages, dataset));
  const int threads = request.num_threads > 0 ? request.num_threads : AvailableProcessors();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<size_t>(threads));
  std::vector<AccuracyReport> reports;
  for (size_t first = 0; first < packages.size();) {
    if (cancel.cancelled()) {
      Error stopped = UsageError("stopped before every package was checked");
      stopped.kind = ErrorKind::kInterrupted;
      return stopped;
    }
    size_t end = first;
    while (end < packages.size() && packages[end].inputs == packages[first].inputs) ++end;
    const std::vector<ModelPackage> fold(packages.begin() + static_cast<ptrdiff_t>(first),
                                         packages.begin() + static_cast<ptrdiff_t>(end));
    TALLELE_ASSIGN(std::vector<AccuracyReport> found, FoldCheck(dataset, request).Run(fold));
    std::move(found.begin(), found.end(), std::back_inserter(reports));
    first = end;
    sink.Progress({"models", static_cast<int64_t>(end), static_cast<int64_t>(packages.size()), 0,
                   end == packages.size()});
  }
  return reports;
}

Result<AccuracyReport> CheckPredictions(const PredictionCheckRequest& request) {
  TALLELE_ASSIGN(const auto predictions, ReadColumn(request.predictions, {}, true));
  TALLELE_ASSIGN(const auto labels, ReadColumn(request.labels, request.label_column, false));
  std::set<std::string> wanted;
  if (!request.partition.empty()) {
    TALLELE_ASSIGN(const FoldTestSet tests, ReadFoldTestSet(request.partition, request.fold));
    if (tests.samples.empty()) {
      return InputError("the partition has no sample names", request.partition);
    }
    wanted.insert(tests.samples.begin(), tests.samples.end());
  }
  std::set<std::string> names;
  for (const auto& [sample, label] : labels) names.insert(label);
  const std::vector<std::string> classes(names.begin(), names.end());
  AccuracyReport report(request.predictions, classes);
  const auto index_of = [&](const std::string& label) -> std::optional<size_t> {
    const auto at = std::lower_bound(classes.begin(), classes.end(), label);
    if (at == classes.end() || *at != label) return std::nullopt;
    return static_cast<size_t>(at - classes.begin());
  };
  for (const auto& [sample, called] : predictions) {
    if (!wanted.empty() && !wanted.contains(sample)) continue;
    const auto label = labels.find(sample);
    if (label != labels.end()) report.Add(*index_of(label->second), index_of(called));
  }
  if (report.num_people() == 0) {
    return InputError("no predicted sample has a label", request.predictions,
                      "The samples of both tables must be named alike.");
  }
  return report;
}

}  // namespace tallele

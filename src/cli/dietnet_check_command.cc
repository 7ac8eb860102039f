#include <fmt/format.h>

#include <cmath>

#include "ancestry/model/accuracy_check.h"
#include "ancestry/model/dataset_location.h"
#include "ancestry/model/import_model.h"
#include "base/atomic_file.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

// Mean held-out accuracy of the 15 published models.
constexpr double kPublishedAccuracy = 0.9214;

struct Words {
  std::string packages;
  std::string dataset;
  std::string seeds;
  std::string folds;
  PackageCheckRequest package_check;
  PredictionCheckRequest prediction_check;
  std::string partition;
  double min_accuracy = 0;
  double max_accuracy = 1;
  std::string out;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--packages", w.packages, "Folder of packages: their held-out accuracy");
  app.add_option(
      "--dataset", w.dataset,
      "Training dataset (HDF5) of the packages; unset: where it was when they were made");
  app.add_option("--seeds", w.seeds, "Only these seeds, as 78,79");
  app.add_option("--folds", w.folds, "Only these folds, from 0");
  app.add_option("--threads", w.package_check.num_threads, "Worker threads, 0 for all");
  app.add_option("--predictions", w.prediction_check.predictions,
                 "Instead: a table of predictions, ours or upstream's");
  app.add_option("--labels", w.prediction_check.labels,
                 "Its truth: tab-separated, a header line, sample and label");
  app.add_option("--label-column", w.prediction_check.label_column,
                 "Column of the label; unset: the second");
  app.add_option("--partition,--partition-file", w.partition,
                 "Partition .npz: test rows of packages that lack them, or with --fold the "
                 "predicted samples to count");
  app.add_option("--fold", w.prediction_check.fold, "Fold of the partition, from 0");
  app.add_option("--min-accuracy", w.min_accuracy, "Below it the exit code is 1");
  app.add_option("--max-accuracy", w.max_accuracy, "Above it the exit code is 1");
  app.add_option("--out", w.out, "File for the tables; unset: standard output");
}

Result<std::vector<AccuracyReport>> Check(Words& w, Console& console, const CancelToken& cancel) {
  const bool of_packages = !w.packages.empty();
  if (of_packages == !w.prediction_check.predictions.empty()) {
    return UsageError("check needs either --packages or --predictions");
  }
  if (!of_packages) {
    if (w.prediction_check.labels.empty()) return UsageError("--predictions needs --labels");
    w.prediction_check.partition = w.partition;
    TALLELE_ASSIGN(AccuracyReport report, CheckPredictions(w.prediction_check));
    return std::vector<AccuracyReport>{std::move(report)};
  }
  PackageFilter filter;
  TALLELE_ASSIGN(filter.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(filter.folds, ParseIntegerList(w.folds, "--folds"));
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(w.packages, filter));
  // The rows of a partition may be those of other data; the packages' own rows may not.
  TALLELE_ASSIGN(const TrainingDataset dataset,
                 OpenDatasetOf(packages, w.dataset, w.partition.empty()));
  if (w.dataset.empty()) console.Print("Dataset: " + dataset.path());
  w.package_check.partition = w.partition;
  TALLELE_ASSIGN(w.package_check.target, ChooseCpuTarget());
  return CheckPackages(packages, dataset, w.package_check, console, cancel);
}

// One line a report and the mean; the mean.
double PrintSummary(const std::vector<AccuracyReport>& reports, bool published_size,
                    Console& console) {
  double sum = 0;
  for (const AccuracyReport& report : reports) {
    sum += report.accuracy();
    console.Print(fmt::format("{}: {} of {} right, accuracy {}", report.name, report.num_correct(),
                              report.num_people(), FormatSixDigits(report.accuracy())));
  }
  const double mean = sum / static_cast<double>(reports.size());
  if (reports.size() > 1) {
    console.Print(
        fmt::format("mean accuracy of {} models {}", reports.size(), FormatSixDigits(mean)));
  }
  if (published_size) {
    console.Print(
        fmt::format("for comparison: the 15 published models have {}", kPublishedAccuracy));
  }
  return mean;
}

}  // namespace

int DietnetCheckCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Accuracy of packages on who they held out, or of a table of predictions",
               "tallele dietnet check");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto reports = Check(words, console, cancel);
  if (!reports) return Fail(reports.error(), cancel.signal_number());
  std::string tables;
  for (const AccuracyReport& report : *reports) {
    tables += (tables.empty() ? "" : "\n") + FormatReport(report);
  }
  if (words.out.empty()) {
    console.Print(tables);
  } else if (const auto done = WriteFileAtomically(words.out, tables); !done) {
    return Fail(done.error());
  }
  const double mean = PrintSummary(
      *reports, !words.packages.empty() && reports->front().class_names == PublishedClasses(),
      console);
  if (mean >= words.min_accuracy && mean <= words.max_accuracy) return kExitSuccess;
  console.Message(
      Severity::kWarning,
      fmt::format("Accuracy {} is outside {} to {}.", FormatSixDigits(mean),
                  FormatSixDigits(words.min_accuracy), FormatSixDigits(words.max_accuracy)));
  return ExitCodeFor(ErrorKind::kNumeric);
}

}  // namespace tallele

#include <cmath>

#include <fmt/format.h>

#include "ancestry/model/missing_study.h"
#include "base/atomic_file.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  std::string packages;
  std::string seeds;
  std::string folds;
  std::string dataset;
  std::string set = "test";
  std::string fractions = "0.1,0.25,0.5,0.7,0.8,0.9,0.95,0.99";
  std::string out;
  std::string details;
  MissingStudyRequest request;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--packages", w.packages, "Folder of packages, or one package");
  app.add_option("--seeds", w.seeds, "Only these seeds, as 78,79");
  app.add_option("--folds", w.folds, "Only these folds, from 0");
  app.add_option("--dataset", w.dataset, "Training dataset (HDF5) of the packages");
  app.add_option("--partition", w.request.partition,
                 "Folds (.npz); not needed for all, and for test when packages know who that is");
  app.add_option("--set", w.set, "Whom to evaluate: train, valid, test or all");
  app.add_option("--fractions", w.fractions, "Shares of the SNPs that are absent");
  app.add_option("--repeats", w.request.num_repeats, "Sets of SNPs for each fraction");
  app.add_option("--seed", w.request.seed, "Of the random sets of SNPs");
  app.add_option("--out", w.out, "Table: fraction missing, mean accuracy over models and repeats");
  app.add_option("--details", w.details, "Also a table of every model and repeat");
  app.add_option("--threads", w.request.num_threads,
                 "Worker threads, 0 for all; never changes a byte");
}

struct Spread {
  double mean = 0;
  double deviation = 0;  // 0 of one value
};

// Over the models and repeats of one fraction.
Spread AccuracyAt(double missing, const std::vector<MissingStudyRow>& rows) {
  Spread s;
  double n = 0, squares = 0;
  for (const MissingStudyRow& row : rows) {
    if (row.missing != missing) continue;
    ++n;
    s.mean += row.accuracy();
  }
  s.mean /= n;
  for (const MissingStudyRow& row : rows) {
    if (row.missing == missing) squares += std::pow(row.accuracy() - s.mean, 2);
  }
  if (n > 1) s.deviation = std::sqrt(squares / (n - 1));
  return s;
}

std::string Details(const std::vector<MissingStudyRow>& rows) {
  std::string text = "model\tmissing\trepeat\tsnps_left\tscale\tright\tpeople\taccuracy\n";
  for (const MissingStudyRow& r : rows) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", r.model, FormatExactly(r.missing),
                        r.repeat, r.num_snps_left, FormatExactly(r.scale), r.num_right,
                        r.num_people, FormatExactly(r.accuracy()));
  }
  return text;
}

Result<void> Report(const Words& w, const std::vector<MissingStudyRow>& rows, Console& console) {
  std::string table = "missing\taccuracy\n";
  console.Print(fmt::format("{:>8} {:>9} {:>9}  over models and repeats, {} set", "missing",
                            "accuracy", "sd", w.set));
  std::vector<double> fractions = w.request.fractions;
  fractions.insert(fractions.begin(), 0);
  for (const double missing : fractions) {
    const Spread s = AccuracyAt(missing, rows);
    table += fmt::format("{}\t{}\n", FormatExactly(missing), FormatExactly(s.mean));
    console.Print(
        fmt::format("{:>8} {:>9.4f} {:>9.4f}", FormatExactly(missing), s.mean, s.deviation));
  }
  TALLELE_TRY(WriteFileAtomically(w.out, table));
  console.Print("  " + w.out);
  if (w.details.empty()) return {};
  TALLELE_TRY(WriteFileAtomically(w.details, Details(rows)));
  console.Print("  " + w.details);
  return {};
}

Result<void> Run(Words& w, Console& console, const CancelToken& cancel) {
  if (w.packages.empty() || w.dataset.empty() || w.out.empty()) {
    return UsageError("missing-study needs --packages, --dataset and --out");
  }
  TALLELE_ASSIGN(w.request.set, SplitSetNamed(w.set));
  TALLELE_ASSIGN(w.request.fractions, ParseNumberList(w.fractions, "--fractions"));
  PackageFilter filter;
  TALLELE_ASSIGN(filter.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(filter.folds, ParseIntegerList(w.folds, "--folds"));
  TALLELE_ASSIGN(w.request.target, ChooseCpuTarget());
  TALLELE_ASSIGN(const auto packages, ReadPackages(w.packages, filter));
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(w.dataset));
  TALLELE_ASSIGN(const auto rows, StudyMissingSnps(packages, dataset, w.request, console, cancel));
  return Report(w, rows, console);
}

}  // namespace

int DietnetMissingStudyCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Accuracy of models on their training dataset when some of the SNPs are absent",
               "tallele dietnet missing-study");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto done = Run(words, console, cancel);
  if (!done.ok()) return Fail(done.error(), cancel.signal_number());
  return kExitSuccess;
}

}  // namespace tallele

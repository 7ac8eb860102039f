#include <fmt/format.h>

#include "ancestry/model/dataset_location.h"
#include "ancestry/model/evaluate.h"
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
  EvaluateRequest request;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--packages", w.packages, "Folder of packages, or one package");
  app.add_option("--seeds", w.seeds, "Only these seeds, as 78,79");
  app.add_option("--folds", w.folds, "Only these folds, from 0");
  app.add_option(
      "--dataset", w.dataset,
      "Training dataset (HDF5) of the packages; unset: where it was when they were made");
  app.add_option("--partition", w.request.partition,
                 "Folds (.npz); not needed for all, and for test when packages know who that is");
  app.add_option("--set", w.set, "Whom to evaluate: train, valid, test or all");
  app.add_option("--out", w.request.out, "Logits and last hidden layer of every model (.npz)");
  app.add_option("--threads", w.request.num_threads, "Worker threads, 0 for all");
}

Result<void> Run(Words& w, Console& console, const CancelToken& cancel) {
  if (w.packages.empty() || w.request.out.empty()) {
    return UsageError("evaluate needs --packages and --out");
  }
  TALLELE_ASSIGN(w.request.set, SplitSetNamed(w.set));
  PackageFilter filter;
  TALLELE_ASSIGN(filter.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(filter.folds, ParseIntegerList(w.folds, "--folds"));
  TALLELE_ASSIGN(w.request.target, ChooseCpuTarget());
  TALLELE_ASSIGN(const auto packages, ReadPackages(w.packages, filter));
  // Rows of a partition, or all of them, may be those of other data; the packages' own may not.
  const bool own_rows = w.request.set == SplitSet::kTest && w.request.partition.empty();
  TALLELE_ASSIGN(const TrainingDataset dataset, OpenDatasetOf(packages, w.dataset, own_rows));
  TALLELE_ASSIGN(const auto accuracies,
                 EvaluatePackages(packages, dataset, w.request, console, cancel));
  for (size_t m = 0; m < packages.size(); ++m) {
    console.Print(fmt::format("{}: accuracy {} of the {} set", packages[m].Name(),
                              FormatSixDigits(accuracies[m]), w.set));
  }
  console.Print("  " + w.request.out);
  return {};
}

}  // namespace

int DietnetEvaluateCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Logits and last hidden layer of every model for a part of its dataset",
               "tallele dietnet evaluate");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto done = Run(words, console, cancel);
  if (!done.ok()) return Fail(done.error(), cancel.signal_number());
  return kExitSuccess;
}

}  // namespace tallele

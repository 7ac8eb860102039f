#include <fmt/format.h>

#include "ancestry/fold_counts.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  std::string dataset;
  std::string partition;
  std::string out;
  bool mean_only = false;
  bool include_valid = false;
  bool only_valid = false;
  bool only_test = false;
  FoldCountRequest request;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--dataset", w.dataset, "Dataset (HDF5); its packed copy is used if there is one");
  app.add_option("--partition", w.partition, "Folds (.npz)");
  app.add_option("--out", w.out, "The output (.npz)");
  app.add_option("--threads", w.request.num_threads,
                 "Worker threads, 0 for all; never changes a byte");
}

Result<SampleSet> ChooseSet(const Words& w) {
  if (w.include_valid + w.only_valid + w.only_test > 1) {
    return UsageError("--include-valid, --only-valid and --only-test exclude each other");
  }
  if (w.include_valid) return SampleSet::kTrainingAndValidation;
  if (w.only_valid) return SampleSet::kValidation;
  return w.only_test ? SampleSet::kTest : SampleSet::kTraining;
}

// With `by_class` every class of the dataset, else everyone as one.
Result<FoldCounts> CountFolds(Words& w, bool by_class, Console& console,
                              const CancelToken& cancel) {
  if (w.dataset.empty() || w.partition.empty() || w.out.empty()) {
    return UsageError("--dataset, --partition and --out are needed");
  }
  TALLELE_ASSIGN(w.request.set, ChooseSet(w));
  w.request.partition = w.partition;
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(w.dataset));
  TALLELE_ASSIGN(const auto folds, ReadPartition(w.partition, dataset.samples()));
  TALLELE_ASSIGN(const auto rows, OpenGenotypeRows(dataset, console));
  const std::vector<int64_t> one_class(dataset.num_people(), 0);
  const std::vector<std::string> one_name = {"all"};
  return FoldCounts::Count(*rows, folds, by_class ? dataset.labels() : one_class,
                           by_class ? dataset.class_names() : one_name, w.request, console, cancel);
}

}  // namespace

int DietnetComputeInputStatsCommand(std::span<const std::string> arguments,
                                    const CancelToken& cancel) {
  Words words;
  CLI::App app("Mean and deviation of each SNP over each fold's training people",
               "tallele dietnet compute-input-stats");
  Declare(app, words);
  app.add_flag("--mean-only", words.mean_only, "No deviations");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto counts = CountFolds(words, false, console, cancel);
  if (!counts) return Fail(counts.error(), cancel.signal_number());
  const InputStatistics statistics = ComputeInputStatistics(*counts);
  const auto written = WriteInputStatistics(*counts, statistics, words.mean_only, words.out);
  if (!written.ok()) return Fail(written.error());
  if (statistics.num_degenerate > 0) {
    console.Message(Severity::kWarning,
                    fmt::format("{} SNPs do not vary in some fold's training people; prediction "
                                "leaves them out unless --faithful is given.",
                                statistics.num_degenerate));
  }
  console.Print(
      fmt::format("Statistics of {} SNPs in {} folds:", counts->num_snps(), counts->num_folds()));
  console.Print("  " + words.out);
  return kExitSuccess;
}

int DietnetGenerateEmbeddingCommand(std::span<const std::string> arguments,
                                    const CancelToken& cancel) {
  Words words;
  CLI::App app("Genotype frequencies of each class over each fold's training people",
               "tallele dietnet generate-embedding");
  Declare(app, words);
  app.add_flag("--include-valid", words.include_valid, "Over training and validation people");
  app.add_flag("--only-valid", words.only_valid, "Over validation people");
  app.add_flag("--only-test", words.only_test, "Over test people");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto counts = CountFolds(words, true, console, cancel);
  if (!counts) return Fail(counts.error(), cancel.signal_number());
  if (const auto written = WriteEmbedding(*counts, words.out); !written.ok()) {
    return Fail(written.error());
  }
  console.Print(fmt::format("Frequencies of {} SNPs in {} classes and {} folds:",
                            counts->num_snps(), counts->num_classes(), counts->num_folds()));
  console.Print("  " + words.out);
  return kExitSuccess;
}

}  // namespace tallele

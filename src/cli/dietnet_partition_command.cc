#include <fmt/format.h>

#include "ancestry/model/training_dataset.h"
#include "ancestry/partition.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

Result<std::vector<Fold>> Split(const std::string& dataset_path, const std::string& out,
                                const PartitionRequest& request) {
  if (dataset_path.empty() || out.empty()) {
    return UsageError("partition needs --dataset and --out");
  }
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(dataset_path));
  TALLELE_ASSIGN(std::vector<Fold> folds,
                 MakePartition(request, dataset.num_people(), dataset.labels()));
  TALLELE_TRY(WritePartition(folds, dataset.samples(), out));
  return folds;
}

}  // namespace

int DietnetPartitionCommand(std::span<const std::string> arguments, const CancelToken&) {
  PartitionRequest request;
  std::string dataset, out;
  CLI::App app("Training, validation and test people of each fold", "tallele dietnet partition");
  app.option_defaults()->always_capture_default();
  app.add_option("--dataset", dataset, "Dataset (HDF5)");
  app.add_option("--out", out, "The partition (.npz)");
  app.add_option("--seed", request.seed, "Same seed and dataset, same folds");
  app.add_option("--nb-folds", request.num_folds, "Folds");
  app.add_flag("--balance-class", request.balance_class,
               "Split every class alike; as many people for validation as for the test");
  const CLI::Option* ratio = app.add_option("--train-valid-ratio", request.train_valid_ratio,
                                            "Share of training among people outside the test set; "
                                            "not with --balance-class");
  if (const auto code = ParseWords(app, arguments)) return *code;
  if (request.balance_class && ratio->count() > 0) {
    return Fail(UsageError("--train-valid-ratio has no effect with --balance-class",
                           "Leave one of them out."));
  }
  const auto folds = Split(dataset, out, request);
  if (!folds) return Fail(folds.error());
  Console console({});
  for (size_t f = 0; f < folds->size(); ++f) {
    const Fold& fold = (*folds)[f];
    console.Print(fmt::format("fold {}: {} training, {} validation, {} test people", f,
                              fold[0].size(), fold[1].size(), fold[2].size()));
  }
  console.Print("  " + out);
  return kExitSuccess;
}

}  // namespace tallele

#include <fmt/format.h>

#include "ancestry/model/import_model.h"
#include "ancestry/model/training_dataset.h"
#include "ancestry/snp_table.h"
#include "base/file_env.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  ModelFiles model;
  std::string bundle;
  std::string wrapper;
  std::string dataset;
  std::string counted;
  bool no_normalize = false;
  ImportContext context;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--checkpoint", w.model.checkpoint, "Weights of one model: upstream's .pt");
  app.add_option("--embedding", w.model.embedding, "Its embedding .npz (emb or embedding)");
  app.add_option("--stats", w.model.stats,
                 "Its statistics .npz (means_by_fold and sd_by_fold, or mean and std)");
  app.add_option("--config", w.model.config, "Its YAML configuration, kept as text");
  app.add_option("--seed", w.model.seed, "Its seed");
  app.add_option("--fold", w.model.fold, "Its fold, from 0; also the row of arrays with folds");
  app.add_option("--bundle", w.bundle, "Instead: the unpacked Dietnet_inference release");
  app.add_option("--wrapper", w.wrapper, "Instead: a folder of the Python wrapper's packages");
  app.add_option(
      "--dataset", w.dataset,
      "Training dataset (HDF5): SNP and class names, and the alleles in the .bim beside it");
  app.add_option("--snps", w.context.snps, "SNP names, one a line, in the model's order");
  app.add_option("--bim", w.context.bim,
                 ".bim of the training data: positions and alleles, the first one counted");
  app.add_option("--counted-allele", w.counted,
                 "first or last: which allele of names like chr1:12345:A:G is counted");
  app.add_option("--classes", w.context.classes,
                 "Class names in class order, one a line, or JSON name to index");
  app.add_option("--partition", w.context.partition, "Partition .npz: keeps who was held out");
  app.add_flag("--no-normalize", w.no_normalize,
               "The models were trained on raw genotypes, not divided by sd");
  app.add_option("--out", w.context.out, "Folder of packages");
}

// Where the models come from: exactly one of three ways.
Result<std::vector<ModelFiles>> FindModels(Words& w) {
  const int ways = !w.model.checkpoint.empty() + !w.bundle.empty() + !w.wrapper.empty();
  if (ways != 1) {
    return UsageError("import-package needs one source of models",
                      "Give --checkpoint with --embedding and --stats, or --bundle, or --wrapper.");
  }
  if (!w.bundle.empty()) return FindBundleModels(w.bundle, w.context);
  if (!w.wrapper.empty()) return FindWrapperModels(w.wrapper, w.context);
  if (w.model.embedding.empty() || w.model.stats.empty()) {
    return UsageError("--checkpoint needs --embedding and --stats",
                      "A checkpoint holds neither; they belong to the model's fold.");
  }
  if (w.model.fold < 0) return UsageError("--fold counts from 0");
  return std::vector<ModelFiles>{w.model};
}

Result<void> Translate(Words& w) {
  if (w.context.out.empty()) return UsageError("--out is missing", "Give the folder of packages.");
  if (w.counted == "first" || w.counted == "last") {
    w.context.counted = w.counted == "first" ? CountedAllele::kFirst : CountedAllele::kLast;
  } else if (!w.counted.empty()) {
    return UsageError("--counted-allele is " + w.counted, "Give first or last.");
  }
  w.context.normalised = !w.no_normalize;
  if (w.dataset.empty()) return {};
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(w.dataset));
  w.context.dataset = w.dataset;
  w.context.dataset_identity = NamesChecksum(dataset);
  w.context.dataset_people = static_cast<int64_t>(dataset.num_people());
  if (w.context.snps.empty()) w.context.snp_names = dataset.snp_names();
  if (w.context.classes.empty()) w.context.class_names = dataset.class_names();
  // The table of alleles that create-dataset leaves beside a dataset.
  const std::string bim = BimPathOf(w.dataset);
  if (w.context.bim.empty() && w.counted.empty() && PosixFileEnv().Identity(bim).ok()) {
    w.context.bim = bim;
  }
  return {};
}

}  // namespace

int DietnetImportPackageCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Turns trained models into packages that predict, match and check read",
               "tallele dietnet import-package");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  if (const auto done = Translate(words); !done) return Fail(done.error());
  const auto models = FindModels(words);
  if (!models) return Fail(models.error());
  Console console({});
  const auto summary = ImportModels(*models, words.context, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  console.Print(fmt::format("Imported {} model(s): {} SNPs{}, {} classes, {} people held out.",
                            summary->packages.size(),
                            FormatThousands(static_cast<int64_t>(summary->num_snps)),
                            summary->has_alleles ? "" : " without alleles", summary->num_classes,
                            FormatThousands(static_cast<int64_t>(summary->num_test_rows))));
  if (summary->num_without_variation > 0) {
    console.Print(fmt::format("{} SNPs did not vary in training; predict leaves them out.",
                              summary->num_without_variation));
  }
  for (const std::string& path : summary->packages) console.Print("  " + path);
  return kExitSuccess;
}

}  // namespace tallele

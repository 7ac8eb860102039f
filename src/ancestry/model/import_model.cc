#include "ancestry/model/import_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/dataset_location.h"
#include "ancestry/model/fold_arrays.h"
#include "ancestry/model/text_inputs.h"
#include "ancestry/partition.h"
#include "base/format_number.h"

namespace tallele {
namespace {

Error Mismatch(const std::string& what, const std::string& where, size_t found, size_t expected,
               std::string advice = {}) {
  Error error = InputError(what, where, std::move(advice));
  error.found = fmt::format("{}", found);
  error.expected = fmt::format("{}", expected);
  return error;
}

class Importer {
 public:
  Importer(const ImportContext& context, EventSink& sink) : context_(context), sink_(sink) {}

  Result<void> ReadShared() {
    TALLELE_ASSIGN(snps_, ReadModelSnps({context_.snps, context_.bim, context_.snp_names,
                                         context_.counted == CountedAllele::kFirst,
                                         context_.counted == CountedAllele::kLast}));
    if (!snps_.has_alleles()) {
      sink_.Message(Severity::kWarning,
                    "The model has no alleles, so `match` will refuse it. Give --bim FILE of the "
                    "training data, or --counted-allele first|last when the SNPs are named like "
                    "chr1:12345:A:G.");
    }
    if (!context_.class_names.empty()) {
      classes_ = context_.class_names;
    } else if (!context_.classes.empty()) {
      TALLELE_ASSIGN(classes_, ReadClassNames(context_.classes));
    }
    return {};
  }

  Result<std::string> Import(const ModelFiles& files, ImportSummary& summary) {
    TALLELE_ASSIGN(const Checkpoint checkpoint, ReadCheckpoint(files.checkpoint));
    ModelPackage package;
    package.seed = files.seed;
    package.fold = files.fold;
    package.epoch = checkpoint.epoch;
    package.mean_loss = checkpoint.mean_loss;
    package.mean_accuracy = checkpoint.mean_accuracy;
    package.normalised = context_.normalised;
    TALLELE_ASSIGN(package.network, NetworkFromState(checkpoint, files.checkpoint));
    if (!files.config.empty()) {
      TALLELE_ASSIGN(package.config, ReadTextFile(files.config));
    }
    TALLELE_ASSIGN(package.inputs, InputsOf(files, package.network.num_classes()));
    TALLELE_TRY(CheckPackage(package, files.checkpoint));
    Note(package, summary);
    TALLELE_ASSIGN(std::string path, WritePackage(package, context_.out));
    if (!context_.dataset.empty()) {
      TALLELE_TRY(WriteDatasetLocation(context_.out, context_.dataset_identity, context_.dataset));
    }
    return path;
  }

 private:
  // Kept for the next model of the same fold.
  Result<std::shared_ptr<const FoldInputs>> InputsOf(const ModelFiles& files, size_t num_classes) {
    const std::string key = fmt::format("{}\n{}\n{}", files.embedding, files.stats, files.fold);
    if (key == cached_key_) return cached_;
    auto inputs = std::make_shared<FoldInputs>();
    inputs->snps = snps_;
    inputs->class_names = classes_;
    if (classes_.empty()) {
      if (num_classes != PublishedClasses().size()) {
        return UsageError(fmt::format("the model has {} classes without names", num_classes),
                          "Give --classes FILE with a class name a line, or --dataset.");
      }
      sink_.Message(Severity::kWarning,
                    "No class names were given: the 24 of the published models are taken.");
      inputs->class_names = PublishedClasses();
    }
    TALLELE_TRY(ReadFoldStatistics(files.stats, files.fold, context_.normalised, *inputs));
    TALLELE_TRY(ReadFoldEmbedding(files.embedding, files.fold, *inputs));
    if (inputs->means.size() != snps_.size()) {
      return Mismatch("the statistics and the list of SNPs are of different data", files.stats,
                      inputs->means.size(), snps_.size());
    }
    if (!context_.partition.empty()) {
      TALLELE_ASSIGN(FoldTestSet tests, ReadFoldTestSet(context_.partition, files.fold));
      inputs->test_rows = std::move(tests.rows);
      inputs->dataset_people = tests.dataset_people;
    }
    inputs->dataset_identity = context_.dataset_identity;
    if (!context_.dataset.empty()) {
      if (inputs->dataset_people > context_.dataset_people) {
        return Mismatch("the partition is of more people than the dataset has", context_.partition,
                        static_cast<size_t>(inputs->dataset_people),
                        static_cast<size_t>(context_.dataset_people),
                        "Give the dataset and the partition of the training.");
      }
      inputs->dataset_people = context_.dataset_people;
    }
    TALLELE_TRY(CheckInputs(*inputs, files.stats + " and " + files.embedding));
    cached_key_ = key;
    cached_ = std::move(inputs);
    return cached_;
  }

  static void Note(const ModelPackage& package, ImportSummary& summary) {
    const FoldInputs& inputs = *package.inputs;
    summary.num_snps = inputs.num_snps();
    summary.num_classes = inputs.class_names.size();
    summary.has_alleles = inputs.snps.has_alleles();
    summary.num_test_rows = inputs.test_rows.size();
    summary.num_without_variation = 0;
    for (size_t j = 0; j < inputs.num_snps(); ++j) {
      summary.num_without_variation += inputs.IsDegenerate(j);
    }
  }

  const ImportContext& context_;
  EventSink& sink_;
  ModelSnps snps_;
  std::vector<std::string> classes_;
  std::string cached_key_;
  std::shared_ptr<const FoldInputs> cached_;
};

Result<void> CheckDistinct(const std::vector<ModelFiles>& models) {
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const ModelFiles& model : models) {
    if (seen.insert({model.seed, model.fold}).second) continue;
    return InputError(fmt::format("two models have seed {} and fold {}", model.seed, model.fold),
                      model.checkpoint, "Import them into different folders.");
  }
  return {};
}

}  // namespace

const std::vector<std::string>& PublishedClasses() {
  static const std::vector<std::string> kClasses = {
      "ACB", "ASW", "BEB", "CDX", "CEUGBR", "CHB", "CHS", "CLM", "ESN", "FIN",    "GIH", "GWD",
      "IBS", "JPT", "KHV", "LWK", "MSL",    "MXL", "PEL", "PJL", "PUR", "STUITU", "TSI", "YRI"};
  return kClasses;
}

Result<ImportSummary> ImportModels(const std::vector<ModelFiles>& models,
                                   const ImportContext& context, EventSink& sink,
                                   const CancelToken& cancel) {
  TALLELE_TRY(CheckDistinct(models));
  Importer importer(context, sink);
  TALLELE_TRY(importer.ReadShared());
  ImportSummary summary;
  for (size_t m = 0; m < models.size(); ++m) {
    if (cancel.cancelled()) {
      Error stopped = UsageError("stopped; the packages written so far are complete");
      stopped.kind = ErrorKind::kInterrupted;
      return stopped;
    }
    TALLELE_ASSIGN(std::string path, importer.Import(models[m], summary));
    summary.packages.push_back(std::move(path));
    sink.Progress({"models", static_cast<int64_t>(m) + 1, static_cast<int64_t>(models.size()), 0,
                   m + 1 == models.size()});
  }
  return summary;
}

}  // namespace tallele

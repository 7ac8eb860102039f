#include "ancestry/model/evaluate.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include "ancestry/model/ensemble.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "base/machine.h"

namespace tallele {
namespace {

constexpr size_t kPeopleAtOnce = 1024;

struct Scores {
  std::vector<double> logits;
  std::vector<double> hidden;
};

Result<Scores> ScorePeople(const Ensemble& ensemble, const TrainingDataset& dataset,
                           std::span<const int64_t> people, const CancelToken& cancel) {
  Scores scores;
  const size_t stride = PackedRowStride(dataset.num_snps());
  std::vector<uint8_t> bytes(kPeopleAtOnce * stride);
  Ensemble::Workspace workspace;
  EnsembleBlock block;
  for (size_t first = 0; first < people.size(); first += kPeopleAtOnce) {
    if (cancel.cancelled()) return InterruptedError();
    const auto part = people.subspan(first, std::min(kPeopleAtOnce, people.size() - first));
    TALLELE_TRY(dataset.ReadRows(part, std::span(bytes).first(part.size() * stride)));
    ensemble.Evaluate({bytes.data(), stride, part.size(), dataset.num_snps()}, true, workspace,
                      block);
    scores.logits.insert(scores.logits.end(), block.logits.begin(), block.logits.end());
    scores.hidden.insert(scores.hidden.end(), block.hidden.begin(), block.hidden.end());
  }
  return scores;
}

class Evaluator {
 public:
  Evaluator(const TrainingDataset& dataset, const SplitPeople& split,
            const EvaluateRequest& request, const CancelToken& cancel)
      : dataset_(dataset), split_(split), request_(request), cancel_(cancel) {}

  Result<double> Run(const ModelPackage& package, StoredZipWriter& zip) const {
    TALLELE_ASSIGN(const std::vector<int64_t> people, split_.Of(package));
    std::vector<uint32_t> snps(dataset_.num_snps());
    std::iota(snps.begin(), snps.end(), 0u);
    EnsembleOptions options;
    options.target = request_.target;
    options.cancel = &cancel_;
    TALLELE_ASSIGN(const Ensemble ensemble, Ensemble::Create({package}, snps, options));
    TALLELE_ASSIGN(const Scores scores, ScorePeople(ensemble, dataset_, people, cancel_));
    std::vector<int64_t> labels;
    for (const int64_t row : people) labels.push_back(dataset_.labels()[static_cast<size_t>(row)]);
    const std::string stem = package.Name() + ".";
    const auto n = static_cast<int64_t>(people.size());
    const int64_t list[] = {n};
    const int64_t of_classes[] = {n, static_cast<int64_t>(ensemble.num_classes())};
    const int64_t of_units[] = {n, static_cast<int64_t>(ensemble.hidden_width(0))};
    TALLELE_TRY(zip.Add(stem + "samples.npy", WriteNpy(std::span<const int64_t>(people), list)));
    TALLELE_TRY(zip.Add(stem + "labels.npy", WriteNpy(std::span<const int64_t>(labels), list)));
    TALLELE_TRY(
        zip.Add(stem + "logits.npy", WriteNpy(std::span<const double>(scores.logits), of_classes)));
    TALLELE_TRY(
        zip.Add(stem + "hidden.npy", WriteNpy(std::span<const double>(scores.hidden), of_units)));
    return Accuracy(scores.logits, labels, ensemble.num_classes());
  }

 private:
  static double Accuracy(const std::vector<double>& logits, const std::vector<int64_t>& labels,
                         size_t num_classes) {
    size_t right = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
      const double* row = logits.data() + i * num_classes;
      if (std::max_element(row, row + num_classes) - row == labels[i]) ++right;
    }
    return static_cast<double>(right) / static_cast<double>(labels.size());
  }

  const TrainingDataset& dataset_;
  const SplitPeople& split_;
  const EvaluateRequest& request_;
  const CancelToken& cancel_;
};

}  // namespace

Result<std::vector<double>> EvaluatePackages(const std::vector<ModelPackage>& packages,
                                             const TrainingDataset& dataset,
                                             const EvaluateRequest& request, EventSink& events,
                                             const CancelToken& cancel) {
  TALLELE_ASSIGN(const SplitPeople split,
                 SplitPeople::Open(packages, dataset, request.partition, request.set));
  const int threads = request.num_threads > 0 ? request.num_threads : AvailableProcessors();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<size_t>(threads));
  const Evaluator evaluator(dataset, split, request, cancel);
  TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(request.out));
  std::vector<double> accuracies;
  for (const ModelPackage& package : packages) {
    TALLELE_ASSIGN(const double accuracy, evaluator.Run(package, zip));
    accuracies.push_back(accuracy);
    events.Progress({"models", static_cast<int64_t>(accuracies.size()),
                     static_cast<int64_t>(packages.size()), 0,
                     accuracies.size() == packages.size()});
  }
  TALLELE_TRY(zip.Add("class_label_names.npy", WriteNpyUnicode(dataset.class_names())));
  TALLELE_TRY(zip.Finish());
  return accuracies;
}

}  // namespace tallele

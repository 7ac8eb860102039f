#include "ancestry/train/fold_source.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "ancestry/genotype_rows.h"
#include "ancestry/model/fold_arrays.h"
#include "ancestry/model/text_inputs.h"
#include "ancestry/packed_dataset.h"
#include "base/file_env.h"

namespace tallele {

Result<std::unique_ptr<FoldSource>> FoldSource::Open(const TrainRequest& request, EventSink& events,
                                                     const CancelToken& cancel) {
  std::unique_ptr<FoldSource> source(new FoldSource(request));
  TALLELE_TRY(source->Load(events, cancel));
  return source;
}

Result<void> FoldSource::Load(EventSink& events, const CancelToken& cancel) {
  TALLELE_ASSIGN(TrainingDataset dataset, TrainingDataset::Open(request_.dataset));
  dataset_ = std::make_shared<const TrainingDataset>(std::move(dataset));
  TALLELE_ASSIGN(partition_, ReadPartition(request_.partition, dataset_->samples()));
  folds_ = request_.folds;
  if (folds_.empty()) {
    folds_.resize(partition_.size());
    std::iota(folds_.begin(), folds_.end(), int64_t{0});
  }
  for (const int64_t fold : folds_) {
    if (fold < 0 || fold >= static_cast<int64_t>(partition_.size())) {
      return UsageError(
          fmt::format("there is no fold {}", fold),
          fmt::format("{} has folds 0 to {}.", request_.partition, partition_.size() - 1));
    }
  }
  people_ = std::make_shared<TrainingPeople>();
  people_->num_snps = dataset_->num_snps();
  people_->classes = dataset_->labels();
  people_->class_names = dataset_->class_names();
  names_checksum_ = NamesChecksum(*dataset_);
  if (request_.regression) {
    TALLELE_ASSIGN(people_->values, dataset_->ReadRegressionValues());
  }
  std::string bim = request_.bim;
  const std::string beside = request_.dataset + ".bim";
  if (bim.empty() && PosixFileEnv().Identity(beside)) bim = beside;
  TALLELE_ASSIGN(snps_, ReadModelSnps({.list = {}, .bim = bim, .names = dataset_->snp_names()}));
  if (!snps_.has_alleles()) {
    events.Message(Severity::kWarning,
                   "The models will have no alleles, so `match` will refuse them. Give --bim FILE "
                   "of the training data.");
  }
  const InputKind* kind = request_.inputs ? &*request_.inputs : nullptr;
  TALLELE_ASSIGN(people_->rows, OpenRowSource(dataset_, kind, events, cancel));
  return CountGenotypes(events, cancel);
}

Result<void> FoldSource::CountGenotypes(EventSink& events, const CancelToken& cancel) {
  const bool need_embedding = request_.embedding.empty() && !request_.plain;
  if (!request_.input_stats.empty() && !need_embedding) return {};
  std::vector<Fold> folds;
  for (const int64_t fold : folds_) folds.push_back(partition_[static_cast<size_t>(fold)]);
  TALLELE_ASSIGN(const auto rows, OpenGenotypeRows(*dataset_, events));
  FoldCountRequest request;
  request.partition = request_.partition;
  request.num_threads = static_cast<size_t>(std::max(0, request_.num_threads));
  TALLELE_ASSIGN(counts_, FoldCounts::Count(*rows, folds, dataset_->labels(),
                                            dataset_->class_names(), request, events, cancel));
  return {};
}

Result<std::shared_ptr<const FoldData>> FoldSource::Get(int64_t fold) {
  const std::lock_guard lock(mutex_);
  if (auto data = made_[fold].lock()) return data;
  TALLELE_ASSIGN(auto data, Make(fold));
  made_[fold] = data;
  return data;
}

std::string FoldSource::InputsPlace(int64_t fold) const {
  std::string place = fmt::format("fold {}", fold);
  if (!request_.input_stats.empty()) place += " of " + request_.input_stats;
  if (!request_.embedding.empty()) {
    place += (request_.input_stats.empty() ? " of " : " and ") + request_.embedding;
  }
  return place;
}

Result<void> FoldSource::CheckVariation(const FoldInputs& inputs, int64_t fold) const {
  if (request_.engine == TrainEngine::kUpstream) return {};  // keeps every SNP
  for (size_t j = 0; j < inputs.num_snps(); ++j) {
    if (!inputs.IsDegenerate(j)) return {};
  }
  return InputError("no SNP varies among the training people", InputsPlace(fold),
                    "Every standard deviation is 1e-6 or no number; give the statistics of this "
                    "dataset and partition.");
}

Result<std::shared_ptr<const FoldData>> FoldSource::Make(int64_t fold) const {
  auto inputs = std::make_shared<FoldInputs>();
  const size_t num_snps = people_->num_snps;
  const auto place =
      static_cast<size_t>(std::find(folds_.begin(), folds_.end(), fold) - folds_.begin());
  inputs->snps = snps_;
  inputs->class_names = people_->class_names;
  if (request_.input_stats.empty()) {
    const InputStatistics statistics = ComputeInputStatistics(*counts_);
    const auto first = static_cast<ptrdiff_t>(place * num_snps);
    const auto last = first + static_cast<ptrdiff_t>(num_snps);
    inputs->means.assign(statistics.means.begin() + first, statistics.means.begin() + last);
    inputs->deviations.assign(statistics.deviations.begin() + first,
                              statistics.deviations.begin() + last);
  } else {
    TALLELE_TRY(ReadFoldStatistics(request_.input_stats, fold, request_.normalise, *inputs));
  }
  if (!request_.embedding.empty()) {
    TALLELE_TRY(ReadFoldEmbedding(request_.embedding, fold, *inputs));
  } else if (!request_.plain) {
    inputs->embedding_width = 3 * people_->class_names.size();
    inputs->embedding = FoldEmbedding(*counts_, place);
  }
  auto data = std::make_shared<FoldData>();
  data->fold = fold;
  data->people = people_;
  data->rows = partition_[static_cast<size_t>(fold)];
  inputs->test_rows = data->rows[2];
  inputs->dataset_people = static_cast<int64_t>(people_->classes.size());
  inputs->dataset_identity = names_checksum_;
  TALLELE_TRY(CheckInputs(*inputs, InputsPlace(fold)));
  TALLELE_TRY(CheckVariation(*inputs, fold));
  if (!request_.plain) {
    const size_t width = 3 * people_->class_names.size();
    if (inputs->embedding_width != width) {
      Error error = InputError("the embedding is of another number of classes", request_.embedding);
      error.found = fmt::format("{} columns", inputs->embedding_width);
      error.expected = fmt::format("{}, 3 for each class", width);
      return error;
    }
    TALLELE_ASSIGN(data->descriptions, inputs->Descriptions());
  }
  data->inputs = std::move(inputs);
  return std::shared_ptr<const FoldData>(std::move(data));
}

}  // namespace tallele

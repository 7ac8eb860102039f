#include "ancestry/model/split_people.h"

#include <iterator>
#include <numeric>

#include "ancestry/partition.h"

namespace tallele {
namespace {

Result<void> CheckDataset(const std::vector<ModelPackage>& packages,
                          const TrainingDataset& dataset) {
  const FoldInputs& inputs = *packages.front().inputs;
  if (dataset.snp_names() == inputs.snps.names && dataset.class_names() == inputs.class_names) {
    return {};
  }
  return InputError("the dataset does not have the models' SNPs and classes in the same order",
                    dataset.path(), "Give the dataset that the models were trained on.");
}

}  // namespace

Result<SplitSet> SplitSetNamed(const std::string& word) {
  constexpr const char* kWords[] = {"train", "valid", "test", "all"};
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (word == kWords[i]) return static_cast<SplitSet>(i);
  }
  return UsageError("--set is " + word, "Give train, valid, test or all.");
}

Result<SplitPeople> SplitPeople::Open(const std::vector<ModelPackage>& packages,
                                      const TrainingDataset& dataset, const std::string& partition,
                                      SplitSet set) {
  TALLELE_TRY(CheckDataset(packages, dataset));
  SplitPeople people;
  people.partition_ = partition;
  people.set_ = set;
  people.num_people_ = dataset.num_people();
  if (partition.empty() || set == SplitSet::kAll) return people;
  TALLELE_ASSIGN(std::vector<Fold> folds, ReadPartition(partition, dataset.samples()));
  for (Fold& fold : folds) people.lists_.push_back(std::move(fold[static_cast<size_t>(set)]));
  return people;
}

Result<std::vector<int64_t>> SplitPeople::Of(const ModelPackage& package) const {
  if (set_ == SplitSet::kAll) {
    std::vector<int64_t> everyone(num_people_);
    std::iota(everyone.begin(), everyone.end(), int64_t{0});
    return everyone;
  }
  if (!lists_.empty()) {
    TALLELE_TRY(CheckFold(package.fold, lists_.size(), partition_));
    return lists_[static_cast<size_t>(package.fold)];
  }
  if (set_ == SplitSet::kTest && !package.inputs->test_rows.empty()) {
    return package.inputs->test_rows;
  }
  return UsageError("--partition is needed to know who is in the set",
                    "Give the partition that the models were trained with.");
}

}  // namespace tallele

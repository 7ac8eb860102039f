#include "ancestry/model/missing_study.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "ancestry/model/ensemble.h"
#include "base/machine.h"
#include "base/random.h"

namespace tallele {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPeopleAtOnce = 1024;  // in memory
constexpr size_t kPeoplePerTask = 32;

Result<void> CheckRequest(const MissingStudyRequest& request) {
  if (request.num_repeats < 1) return UsageError("a study needs at least one repeat");
  for (const double fraction : request.fractions) {
    if (fraction > 0 && fraction < 1) continue;
    return UsageError(
        fmt::format("the fraction {} of missing SNPs is not between 0 and 1", fraction),
        "The study with all SNPs is made in any case.");
  }
  return {};
}

// Columns `left` of a row of 2-bit genotypes, packed.
void TakeColumns(const uint8_t* row, std::span<const uint32_t> left, uint8_t* out) {
  for (size_t j = 0; j < left.size(); ++j) {
    const uint32_t snp = left[j];
    const int code = row[snp / 4] >> (2 * (snp % 4)) & 3;
    const int shift = static_cast<int>(2 * (j % 4));
    if (shift == 0) out[j / 4] = 0;
    out[j / 4] = static_cast<uint8_t>(out[j / 4] | code << shift);
  }
}

// The models of one fold.
class FoldStudy {
 public:
  FoldStudy(const std::vector<ModelPackage>& models, const TrainingDataset& dataset,
            const MissingStudyRequest& request, const CancelToken& cancel)
      : models_(models), dataset_(dataset), request_(request), cancel_(cancel) {}

  Result<void> FindPeople(const SplitPeople& split) {
    TALLELE_ASSIGN(people_, split.Of(models_.front()));
    if (people_.empty()) {
      return InputError(fmt::format("fold {} has nobody in the set", models_.front().fold),
                        request_.partition);
    }
    return {};
  }

  // Adds a row for each model.
  Result<void> Run(double missing, int64_t repeat, std::span<const uint32_t> left,
                   std::vector<MissingStudyRow>& rows) {
    EnsembleOptions options;
    options.target = request_.target;
    options.cancel = &cancel_;
    TALLELE_ASSIGN(const Ensemble ensemble, Ensemble::Create(models_, left, options));
    std::vector<int64_t> right(models_.size(), 0);
    for (size_t first = 0; first < people_.size(); first += kPeopleAtOnce) {
      if (cancel_.cancelled()) return InterruptedError();
      const size_t count = std::min(kPeopleAtOnce, people_.size() - first);
      TALLELE_TRY(CountRight(ensemble, {people_.data() + first, count}, left, right));
    }
    for (size_t m = 0; m < models_.size(); ++m) {
      MissingStudyRow& row = rows.emplace_back();
      row.model = models_[m].Name();
      row.missing = missing;
      row.repeat = repeat;
      row.num_snps_left = left.size();
      row.scale = ensemble.scale(m);
      row.num_right = right[m];
      row.num_people = static_cast<int64_t>(people_.size());
    }
    return {};
  }

 private:
  Result<void> CountRight(const Ensemble& ensemble, std::span<const int64_t> people,
                          std::span<const uint32_t> left, std::vector<int64_t>& right) {
    const size_t stride = PackedRowStride(dataset_.num_snps());
    bytes_.resize(people.size() * stride);
    TALLELE_TRY(dataset_.ReadRows(people, bytes_));
    const size_t models = models_.size();
    const size_t classes = ensemble.num_classes();
    std::vector<uint8_t> is_right(people.size() * models, 0);
    const size_t tasks = (people.size() + kPeoplePerTask - 1) / kPeoplePerTask;
    oneapi::tbb::parallel_for(size_t{0}, tasks, [&](size_t task) {
      const size_t begin = task * kPeoplePerTask;
      const size_t count = std::min(kPeoplePerTask, people.size() - begin);
      const size_t short_stride = PackedRowStride(left.size());
      std::vector<uint8_t> packed(count * short_stride);
      for (size_t i = 0; i < count; ++i) {
        TakeColumns(bytes_.data() + (begin + i) * stride, left, packed.data() + i * short_stride);
      }
      Ensemble::Workspace workspace;
      EnsembleBlock block;
      ensemble.Evaluate({packed.data(), short_stride, count, left.size()}, false, workspace, block);
      for (size_t i = 0; i < count; ++i) {
        const auto truth = dataset_.labels()[static_cast<size_t>(people[begin + i])];
        for (size_t m = 0; m < models; ++m) {
          const double* p = block.probabilities.data() + (i * models + m) * classes;
          is_right[(begin + i) * models + m] = std::max_element(p, p + classes) - p == truth;
        }
      }
    });
    for (size_t i = 0; i < is_right.size(); ++i) right[i % models] += is_right[i];
    return {};
  }

  const std::vector<ModelPackage>& models_;
  const TrainingDataset& dataset_;
  const MissingStudyRequest& request_;
  const CancelToken& cancel_;
  std::vector<int64_t> people_;
  std::vector<uint8_t> bytes_;
};

// Packages are sorted by fold, and those of a fold share their inputs.
std::vector<std::vector<ModelPackage>> ByInputs(const std::vector<ModelPackage>& packages) {
  std::vector<std::vector<ModelPackage>> groups;
  for (const ModelPackage& package : packages) {
    if (groups.empty() || groups.back().front().inputs != package.inputs) groups.emplace_back();
    groups.back().push_back(package);
  }
  return groups;
}

// Repeats of all fractions and folds, counted for the user.
class Study {
 public:
  Study(const TrainingDataset& dataset, const MissingStudyRequest& request, EventSink& events,
        const CancelToken& cancel)
      : dataset_(dataset), request_(request), events_(events), cancel_(cancel) {}

  Result<std::vector<MissingStudyRow>> Run(const std::vector<ModelPackage>& packages) {
    TALLELE_ASSIGN(const SplitPeople split,
                   SplitPeople::Open(packages, dataset_, request_.partition, request_.set));
    const auto groups = ByInputs(packages);
    total_ = static_cast<int64_t>(groups.size()) *
             (1 + static_cast<int64_t>(request_.fractions.size()) * request_.num_repeats);
    for (const auto& models : groups) TALLELE_TRY(RunFold(models, split));
    return std::move(rows_);
  }

 private:
  Result<void> RunFold(const std::vector<ModelPackage>& models, const SplitPeople& split) {
    FoldStudy fold(models, dataset_, request_, cancel_);
    TALLELE_TRY(fold.FindPeople(split));
    std::vector<uint32_t> all(dataset_.num_snps());
    std::iota(all.begin(), all.end(), 0u);
    TALLELE_TRY(fold.Run(0, 0, all, rows_));
    Report();
    for (const double fraction : request_.fractions) {
      const SnpGroups groups(dataset_.num_snps(), fraction, request_.seed);
      for (int64_t repeat = 0; repeat < request_.num_repeats; ++repeat) {
        TALLELE_TRY(fold.Run(fraction, repeat, groups.Left(repeat), rows_));
        Report();
      }
    }
    return {};
  }

  void Report() {
    ++done_;
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    events_.Progress({"sets of SNPs", done_, total_, elapsed.count(), done_ == total_});
  }

  const TrainingDataset& dataset_;
  const MissingStudyRequest& request_;
  EventSink& events_;
  const CancelToken& cancel_;
  std::vector<MissingStudyRow> rows_;
  int64_t done_ = 0;
  int64_t total_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

SnpGroups::SnpGroups(size_t num_snps, double fraction, uint64_t seed)
    : num_snps_(num_snps), removes_(fraction <= 0.5), seed_(seed) {
  const double share = removes_ ? fraction : 1 - fraction;
  const auto rounded = static_cast<size_t>(std::llround(share * static_cast<double>(num_snps)));
  group_size_ = std::max<size_t>(1, rounded);
}

std::vector<uint32_t> SnpGroups::Left(int64_t repeat) const {
  const size_t round = static_cast<size_t>(repeat) / groups_a_round();
  const size_t group = static_cast<size_t>(repeat) % groups_a_round();
  std::vector<uint32_t> order(num_snps_);
  std::iota(order.begin(), order.end(), 0u);
  RandomStream random(seed_, round);
  for (size_t i = num_snps_; i > 1; --i) {
    std::swap(order[i - 1], order[random.NextBelow(static_cast<uint32_t>(i))]);
  }
  const auto first = order.begin() + static_cast<ptrdiff_t>(group * group_size_);
  const auto last = first + static_cast<ptrdiff_t>(group_size_);
  std::vector<uint32_t> left;
  if (removes_) {
    left.assign(order.begin(), first);
    left.insert(left.end(), last, order.end());
  } else {
    left.assign(first, last);
  }
  std::sort(left.begin(), left.end());
  return left;
}

Result<std::vector<MissingStudyRow>> StudyMissingSnps(const std::vector<ModelPackage>& packages,
                                                      const TrainingDataset& dataset,
                                                      const MissingStudyRequest& request,
                                                      EventSink& events,
                                                      const CancelToken& cancel) {
  TALLELE_TRY(CheckRequest(request));
  const int threads = request.num_threads > 0 ? request.num_threads : AvailableProcessors();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<size_t>(threads));
  return Study(dataset, request, events, cancel).Run(packages);
}

}  // namespace tallele

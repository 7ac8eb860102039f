#include "ancestry/model/ensemble.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace tallele {
namespace {

constexpr size_t kSnpsPerTask = 1024;  // a chunk of the panel: tasks share no cache line of it

template <typename Body>
void ForEachRange(size_t count, const Body& body) {
  using Range = oneapi::tbb::blocked_range<size_t>;
  oneapi::tbb::parallel_for(
      Range(0, (count + kSnpsPerTask - 1) / kSnpsPerTask), [&](const Range& tasks) {
        body(tasks.begin() * kSnpsPerTask, std::min(count, tasks.end() * kSnpsPerTask));
      });
}

// Models that share inputs are one group of columns.
struct Group {
  std::shared_ptr<const FoldInputs> inputs;
  std::vector<size_t> models;
  size_t num_columns = 0;
};

std::vector<Group> GroupByInputs(const std::vector<ModelPackage>& packages) {
  std::vector<Group> groups;
  for (size_t m = 0; m < packages.size(); ++m) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.inputs == packages[m].inputs; });
    if (group == groups.end()) {
      groups.push_back({packages[m].inputs, {}, 0});
      group = groups.end() - 1;
    }
    group->models.push_back(m);
    group->num_columns += packages[m].network.fat_width();
  }
  return groups;
}

}  // namespace

class Ensemble::Builder {
 public:
  Builder(const std::vector<ModelPackage>& packages, std::span<const uint32_t> model_snps,
          const EnsembleOptions& options)
      : packages_(packages), snps_(model_snps), options_(options) {}

  Result<Ensemble> Build() {
    TALLELE_TRY(CheckRequest());
    const std::vector<Group> groups = GroupByInputs(packages_);
    std::vector<size_t> sizes;
    for (const Group& group : groups) sizes.push_back(group.num_columns);
    ensemble_.target_ = options_.target;
    ensemble_.num_classes_ = packages_.front().inputs->class_names.size();
    ensemble_.columns_ = std::make_unique<PackedColumns>(snps_.size(), sizes);
    std::vector<std::optional<Model>> models(packages_.size());
    size_t first_of_group = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      TALLELE_TRY(AddGroup(groups[g], g, first_of_group, models));
      first_of_group += groups[g].num_columns;
    }
    ensemble_.columns_->Finish();
    for (size_t m = 0; m < models.size(); ++m) {
      if (!packages_[m].normalised) AddConstants(*models[m]);
      ensemble_.total_hidden_width_ += models[m]->last_width;
      ensemble_.models_.push_back(std::move(*models[m]));
    }
    return std::move(ensemble_);
  }

 private:
  Result<void> CheckRequest() const {
    if (packages_.empty()) return UsageError("there are no models to predict with");
    const size_t model_snps = packages_.front().inputs->num_snps();
    if (snps_.empty()) return InputError("no SNP of the models is in the data", "matched SNPs");
    if (snps_.size() > kMostPackedSnps) {
      return UnsupportedError("models of more than 8,000,000 SNPs", packages_.front().path);
    }
    for (size_t j = 0; j < snps_.size(); ++j) {
      if (snps_[j] < model_snps && (j == 0 || snps_[j] > snps_[j - 1])) continue;
      return InputError("the matched SNPs are not those of the model, or not in its order",
                        fmt::format("matched SNP {}", j), "Run match again with this model.");
    }
    return {};
  }

  bool Cancelled() const { return options_.cancel != nullptr && options_.cancel->cancelled(); }

  Result<void> AddGroup(const Group& group, size_t g, size_t first_column,
                        std::vector<std::optional<Model>>& models) {
    const FoldInputs& inputs = *group.inputs;
    TALLELE_ASSIGN(const std::vector<float> descriptions, inputs.Descriptions());
    for (size_t j = 0; j < snps_.size(); ++j) {
      if (!inputs.IsDegenerate(snps_[j])) {
        ensemble_.columns_->SetMean(j, g, static_cast<float>(inputs.means[snps_[j]]));
      }
    }
    size_t within = 0;
    for (const size_t m : group.models) {
      if (Cancelled()) {
        Error stopped;
        stopped.kind = ErrorKind::kInterrupted;
        stopped.what = "stopped while the models were built";
        return stopped;
      }
      const Network& network = packages_[m].network;
      Model model(network);
      model.first_column = first_column + within;
      model.group = g;
      model.last_width = network.last_width();
      TALLELE_TRY(SetScale(packages_[m], model));
      TALLELE_TRY(AddFatLayer(packages_[m], descriptions, within, model));
      within += network.fat_width();
      models[m] = std::move(model);
    }
    return {};
  }

  Result<void> SetScale(const ModelPackage& package, Model& model) const {
    const FoldInputs& inputs = *package.inputs;
    size_t total = inputs.num_snps();
    size_t matched = snps_.size();
    for (const uint32_t snp : snps_) model.num_left_out += inputs.IsDegenerate(snp);
    if (!options_.faithful) {
      for (size_t j = 0; j < inputs.num_snps(); ++j) total -= inputs.IsDegenerate(j);
      matched -= model.num_left_out;
    }
    if (matched == 0) {
      return InputError("every matched SNP of a model did not vary in its training", package.path);
    }
    model.input_scale =
        options_.scale.value_or(static_cast<double>(total) / static_cast<double>(matched));
    return {};
  }

  // What the fat layer's row of G is divided by: the sd in float32, as upstream rounds it.
  static double Divisor(const ModelPackage& package, size_t snp) {
    return package.normalised ? double{static_cast<float>(package.inputs->deviations[snp])} : 1.0;
  }

  Result<void> AddFatLayer(const ModelPackage& package, const std::vector<float>& descriptions,
                           size_t first, Model& model) {
    const FoldInputs& inputs = *package.inputs;
    const size_t width = package.network.fat_width();
    const AuxiliaryNetwork auxiliary(package.network);
    std::vector<double> weights(snps_.size() * width);
    ForEachRange(snps_.size(), [&](size_t begin, size_t end) {
      std::vector<double> scratch;
      for (size_t j = begin; j < end; ++j) {
        double* row = weights.data() + j * width;
        auxiliary.Evaluate(descriptions.data() + snps_[j] * inputs.embedding_width, scratch, row);
        const double divisor = Divisor(package, snps_[j]);
        for (size_t h = 0; h < width; ++h) row[h] /= divisor;
      }
    });
    TALLELE_TRY(TakeConstantSnps(package, weights, model));
    std::vector<double> largest(width, 0);
    for (size_t j = 0; j < snps_.size(); ++j) {
      for (size_t h = 0; h < width; ++h) {
        largest[h] = std::max(largest[h], std::fabs(weights[j * width + h]));
      }
    }
    for (const double size : largest) model.column_scales.push_back(size / kLargestPackedQ);
    ForEachRange(snps_.size(), [&](size_t begin, size_t end) {
      std::vector<int32_t> q(width);
      for (size_t j = begin; j < end; ++j) {
        for (size_t h = 0; h < width; ++h) {
          const double ratio = largest[h] > 0 ? weights[j * width + h] / largest[h] : 0;
          q[h] = static_cast<int32_t>(std::rint(ratio * kLargestPackedQ));
        }
        ensemble_.columns_->Set(j, model.group, first, q);
      }
    });
    return {};
  }

  // Takes the SNPs that did not vary in training out of the weights, so that their huge values
  // cannot set the quantisation scale; --faithful keeps them aside.
  Result<void> TakeConstantSnps(const ModelPackage& package, std::vector<double>& weights,
                                Model& model) const {
    const FoldInputs& inputs = *package.inputs;
    const size_t width = package.network.fat_width();
    for (size_t j = 0; j < snps_.size(); ++j) {
      if (!inputs.IsDegenerate(snps_[j])) continue;
      const auto row = weights.begin() + static_cast<ptrdiff_t>(j * width);
      if (options_.faithful) {
        if (!std::isfinite(inputs.deviations[snps_[j]]) || !std::isfinite(inputs.means[snps_[j]])) {
          return InputError(
              fmt::format("SNP {} has no mean or standard deviation in training",
                          inputs.snps.names[snps_[j]]),
              package.path,
              "With such a SNP upstream's scores are no numbers; leave --faithful out.");
        }
        model.constant_snps.push_back(static_cast<uint32_t>(j));
        model.constant_means.push_back(static_cast<float>(inputs.means[snps_[j]]));
        model.constant_weights.insert(model.constant_weights.end(), row,
                                      row + static_cast<ptrdiff_t>(width));
      }
      std::fill_n(row, width, 0.0);
    }
    return {};
  }

  // Without normalisation missing calls are filled with the mean instead of dropped:
  // sum over observed of x q + sum over missing of mu q = centred sum + sum of all mu q.
  void AddConstants(Model& model) const {
    const PackedColumns& columns = *ensemble_.columns_;
    size_t before = 0;
    for (size_t g = 0; g < model.group; ++g) before += columns.group_size(g);
    for (size_t h = 0; h < model.column_scales.size(); ++h) {
      const size_t column = model.first_column - before + h;
      model.constants.push_back(static_cast<double>(columns.mean_sum(model.group, column)));
    }
  }

  const std::vector<ModelPackage>& packages_;
  std::span<const uint32_t> snps_;
  const EnsembleOptions& options_;
  Ensemble ensemble_;
};

Result<Ensemble> Ensemble::Create(const std::vector<ModelPackage>& packages,
                                  std::span<const uint32_t> model_snps,
                                  const EnsembleOptions& options) {
  return Builder(packages, model_snps, options).Build();
}

void Ensemble::AddConstantSnps(const Model& model, const uint8_t* row, double* z) const {
  const size_t width = model.column_scales.size();
  for (size_t i = 0; i < model.constant_snps.size(); ++i) {
    const uint32_t column = model.constant_snps[i];
    const int code = row[column / 4] >> (2 * (column % 4)) & 3;
    if (code == 3) continue;
    const double x = code - model.constant_means[i];
    for (size_t h = 0; h < width; ++h) z[h] += x * model.constant_weights[i * width + h];
  }
}

void Ensemble::Evaluate(const PackedRows& rows, bool keep_hidden, Workspace& w,
                        EnsembleBlock& block) const {
  block.num_people = rows.num_rows;
  const size_t stride = models_.size() * num_classes_;
  block.probabilities.resize(rows.num_rows * stride);
  block.logits.resize(rows.num_rows * stride);
  block.hidden.clear();
  w.sums.resize(rows.num_rows * columns_->num_columns());
  MultiplyPackedRows(target_, rows, *columns_, w.scratch, w.sums.data());
  for (size_t r = 0; r < rows.num_rows; ++r) {
    for (size_t m = 0; m < models_.size(); ++m) {
      const Model& model = models_[m];
      const size_t width = model.column_scales.size();
      const int64_t* sums = w.sums.data() + r * columns_->num_columns() + model.first_column;
      w.z.resize(width);
      for (size_t h = 0; h < width; ++h) {
        double sum = static_cast<double>(sums[h]);  // below 2^53
        if (!model.constants.empty()) sum += model.constants[h];
        w.z[h] = model.column_scales[h] * sum;
      }
      AddConstantSnps(model, rows.row(r), w.z.data());
      for (double& z : w.z) z *= model.input_scale;
      model.tail.Evaluate(w.z.data(), w.output);
      const auto to = static_cast<ptrdiff_t>(r * stride + m * num_classes_);
      std::copy(w.output.probabilities.begin(), w.output.probabilities.end(),
                block.probabilities.begin() + to);
      std::copy(w.output.logits.begin(), w.output.logits.end(), block.logits.begin() + to);
      if (keep_hidden) {
        block.hidden.insert(block.hidden.end(), w.output.hidden.begin(), w.output.hidden.end());
      }
    }
  }
}

}  // namespace tallele

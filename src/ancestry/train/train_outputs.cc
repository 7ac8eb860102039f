#include "ancestry/train/train_outputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "ancestry/model/fixed_math.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "base/format_number.h"

namespace tallele {
namespace {

std::string Cells(const std::optional<PassResult>& pass) {
  if (!pass) return "\t";
  return FormatExactly(pass->loss) + '\t' + FormatExactly(pass->accuracy);
}

// As Python prints a float: 0.0001, 3e-05, 1.0.
std::string PythonFloat(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// float32 softmax of a row of logits, as doubles.
void AppendSoftmax(const FloatTable& logits, size_t row, std::vector<double>& out) {
  const auto largest = static_cast<double>(logits.at(row, LargestOutput(logits, row)));
  std::vector<double> exponentials;
  double sum = 0;
  for (size_t c = 0; c < logits.columns(); ++c) {
    sum += exponentials.emplace_back(FixedExp(static_cast<double>(logits.at(row, c)) - largest));
  }
  for (const double e : exponentials) {
    out.push_back(static_cast<double>(static_cast<float>(e / sum)));
  }
}

Tensor FloatTensor(std::vector<int64_t> shape, std::vector<float> values) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.floats = std::move(values);
  return tensor;
}

Tensor VectorTensor(const float* values, size_t count) {
  return FloatTensor({static_cast<int64_t>(count)}, {values, values + count});
}

// A table that is kept inputs x outputs, as outputs x inputs.
Tensor WeightTensor(const FloatTable& transposed) {
  const FloatTable weight = transposed.Transposed();
  std::vector<float> values;
  for (size_t r = 0; r < weight.rows(); ++r) {
    values.insert(values.end(), weight.row(r), weight.row(r) + weight.columns());
  }
  return FloatTensor({static_cast<int64_t>(weight.rows()), static_cast<int64_t>(weight.columns())},
                     std::move(values));
}

void AppendLayer(const std::string& name, const FloatTable& weight, const FloatTable& bias,
                 std::vector<NamedTensor>& state) {
  state.push_back({name + ".weight", WeightTensor(weight)});
  state.push_back({name + ".bias", VectorTensor(bias.row(0), bias.columns())});
}

void AppendNorm(const std::string& name, const NormParameters& norm, const RunningNorm& running,
                std::vector<NamedTensor>& state) {
  const size_t width = norm.weight.columns();
  state.push_back({name + ".weight", VectorTensor(norm.weight.row(0), width)});
  state.push_back({name + ".bias", VectorTensor(norm.bias.row(0), width)});
  state.push_back({name + ".running_mean", VectorTensor(running.mean.data(), width)});
  state.push_back({name + ".running_var", VectorTensor(running.variance.data(), width)});
  Tensor count;
  count.is_integer = true;
  count.integers = {running.num_batches};
  state.push_back({name + ".num_batches_tracked", count});
}

std::vector<NamedTensor> PlainState(const ModelState& model) {
  const Parameters& p = model.parameters;
  std::vector<NamedTensor> state;
  AppendLayer("hidden_layers.0", p.fat_weight, p.fat_bias, state);
  for (size_t l = 0; l < p.hidden.size(); ++l) {
    AppendLayer(fmt::format("hidden_layers.{}", l + 1), p.hidden[l].weight, p.hidden[l].bias,
                state);
  }
  for (size_t l = 0; l < p.norms.size(); ++l) {
    AppendNorm(fmt::format("bn.{}", l), p.norms[l], model.running[l], state);
  }
  AppendLayer("out", p.output.weight, p.output.bias, state);
  return state;
}

}  // namespace

std::string EpochHeader() {
  return "epoch\ttrain_mode_loss\ttrain_mode_acc\ttrain_eval_loss\ttrain_eval_acc\tvalid_loss\t"
         "valid_acc\tlr_aux_after\tlr_main_after\tsaved_best\n";
}

std::string EpochLine(const EpochRecord& r) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", r.epoch, Cells(r.train),
                     Cells(r.train_evaluation), Cells(r.valid), FormatExactly(r.lr_aux),
                     FormatExactly(r.lr_main), r.saved_best ? 1 : 0);
}

std::string ResultsFolderName(const Trainer& trainer, bool regression, int64_t fold) {
  const TrainConfig& c = trainer.settings().config;
  const NetworkShape& shape = trainer.shape();
  return fmt::format(
      "RESULTS_{}_{}mainu_{}_inpdrop_{}_maindrop_{}_lraux_{}_lrmain_{}_lra_{}_"
      "uniform_init_limit_{}_epochs_{}_patience_{}_seed_{}_fold{}",
      regression ? "regression" : "classification",
      shape.is_plain() ? std::string() : fmt::format("auxu_{}_", fmt::join(shape.auxiliary, "_")),
      fmt::join(shape.main, "_"), PythonFloat(c.input_dropout), PythonFloat(c.dropout_main),
      PythonFloat(c.lr_aux), PythonFloat(c.lr_main), PythonFloat(c.learning_rate_annealing),
      PythonFloat(c.uniform_init_limit), c.epochs, c.patience, trainer.settings().seed, fold);
}

Result<void> WriteResults(const TrainingPeople& data, std::span<const int64_t> people,
                          const FloatTable& outputs, const std::string& path) {
  std::vector<double> samples, labels, preds, scores;
  for (size_t i = 0; i < people.size(); ++i) {
    const auto row = static_cast<size_t>(people[i]);
    samples.push_back(static_cast<double>(people[i]));
    if (data.is_regression()) {
      labels.push_back(static_cast<double>(data.values[row]));
      preds.push_back(static_cast<double>(outputs.at(i, 0)));
    } else {
      labels.push_back(static_cast<double>(data.classes[row]));
      preds.push_back(static_cast<double>(LargestOutput(outputs, i)));
      AppendSoftmax(outputs, i, scores);
    }
  }
  const auto n = static_cast<int64_t>(people.size());
  const int64_t list[] = {n};
  const auto add = [&](const std::vector<double>& values, std::span<const int64_t> shape) {
    return WriteNpy(std::span<const double>(values), shape);
  };
  TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(path));
  TALLELE_TRY(zip.Add("samples.npy", add(samples, list)));
  TALLELE_TRY(zip.Add("labels.npy", add(labels, list)));
  TALLELE_TRY(zip.Add("preds.npy", add(preds, list)));
  if (!data.is_regression()) {
    const int64_t table[] = {n, static_cast<int64_t>(outputs.columns())};
    TALLELE_TRY(zip.Add("scores.npy", add(scores, table)));
    TALLELE_TRY(zip.Add("class_label_names.npy", WriteNpyUnicode(data.class_names)));
  }
  return zip.Finish();
}

Result<void> WriteModelPt(const ModelState& model, int64_t epoch, const PassResult* valid,
                          const int64_t* patience, const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.epoch = epoch;
  if (valid != nullptr) {
    checkpoint.mean_loss = valid->loss;
    checkpoint.mean_accuracy = valid->accuracy;
  }
  if (patience != nullptr) checkpoint.patience = *patience;
  checkpoint.state =
      model.parameters.auxiliary.empty() ? PlainState(model) : StateFromNetwork(ToNetwork(model));
  return WriteCheckpoint(checkpoint, path);
}

}  // namespace tallele

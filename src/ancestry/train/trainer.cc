#include "ancestry/train/trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "ancestry/train/adam.h"

namespace tallele {
namespace {

constexpr size_t kPeopleAtOnce = 1024;  // in memory during an evaluation
constexpr size_t kPeoplePerTask = 64;

NetworkShape ShapeFor(const FoldData& data, const TrainSettings& settings) {
  const TrainingPeople& people = *data.people;
  const size_t num_classes = people.class_names.size();
  return ShapeOf(settings.config, people.num_snps, num_classes,
                 people.is_regression() ? 1 : num_classes, settings.plain);
}

template <typename T>
std::vector<T> Take(const std::vector<T>& from, std::span<const int64_t> rows) {
  std::vector<T> taken;
  for (const int64_t row : rows) taken.push_back(from[static_cast<size_t>(row)]);
  return taken;
}

size_t NumRight(const FloatTable& outputs, std::span<const int64_t> classes) {
  size_t right = 0;
  for (size_t r = 0; r < classes.size(); ++r) {
    if (LargestOutput(outputs, r) == static_cast<size_t>(classes[r])) ++right;
  }
  return right;
}

double PerCent(size_t part, size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole) * 100;
}

// Rows first .. first+count-1 of a table.
FloatTable Rows(const FloatTable& from, size_t first, size_t count) {
  FloatTable rows(count, from.columns());
  std::copy_n(from.row(first), count * from.stride(), rows.row(0));
  return rows;
}

}  // namespace

size_t LargestOutput(const FloatTable& outputs, size_t row) {
  const float* values = outputs.row(row);
  return static_cast<size_t>(std::max_element(values, values + outputs.columns()) - values);
}

Trainer::Trainer(std::shared_ptr<const FoldData> data, TrainSettings settings)
    : data_(std::move(data)),
      settings_(std::move(settings)),
      shape_(ShapeFor(*data_, settings_)),
      fat_layer_(shape_, data_->descriptions, settings_.target),
      main_network_(settings_.target) {
  const FoldInputs& inputs = *data_->inputs;
  const auto kept = static_cast<float>(1 - InputDropout());
  const double smallest = settings_.engine == TrainEngine::kUpstream ? 0 : kSmallestDeviation;
  training_tables_ =
      InputTables(inputs.means, inputs.deviations, settings_.normalise, 1.0f / kept, smallest);
  evaluation_tables_ =
      InputTables(inputs.means, inputs.deviations, settings_.normalise, 1.0f, smallest);
  loader_options_.batch_size = static_cast<size_t>(settings_.config.batch_size);
  loader_options_.input_dropout = InputDropout();
  loader_options_.unit_dropout = settings_.config.dropout_main;
  loader_options_.unit_widths = shape_.main;
  loader_options_.path = settings_.path;
  loader_options_.prefetch = settings_.prefetch;
  gradients_ = Parameters::Zeros(shape_);
}

// Upstream's plain network has no input dropout, whatever the configuration says.
double Trainer::InputDropout() const {
  return settings_.plain ? 0 : settings_.config.input_dropout;
}

Result<EpochRecord> Trainer::Begin(const CancelToken& cancel) {
  const auto seed = static_cast<uint64_t>(settings_.seed);
  TorchRandom torch(seed);
  state_ = {};
  state_.model = InitialState(shape_, settings_.config.uniform_init_limit, torch);
  state_.first_moments = Parameters::Zeros(shape_);
  state_.second_moments = Parameters::Zeros(shape_);
  state_.lr_aux = settings_.config.lr_aux;
  state_.lr_main = settings_.config.lr_main;
  random_ = MakeTrainingRandom(settings_.engine, seed, torch);
  EpochRecord record;
  TALLELE_TRY(EvaluateValidation(record, cancel));
  record.lr_aux = state_.lr_aux;
  record.lr_main = state_.lr_main;
  record.saved_best = true;
  KeepBest(0, record.valid);
  state_.random = random_->State();
  return record;
}

Result<void> Trainer::Continue(TrainState state) {
  const auto seed = static_cast<uint64_t>(settings_.seed);
  random_ = MakeTrainingRandom(settings_.engine, seed, TorchRandom(seed));
  if (!random_->Restore(state.random)) {
    return InternalError("the state of the random streams is of another engine");
  }
  state_ = std::move(state);
  return {};
}

bool Trainer::IsFinished() const {
  return state_.epoch >= settings_.config.epochs || state_.patience >= settings_.config.patience;
}

Result<EpochRecord> Trainer::RunEpoch(const CancelToken& cancel) {
  EpochRecord record;
  record.epoch = state_.epoch + 1;
  TALLELE_ASSIGN(record.train, TrainOnce(record.epoch, cancel));
  if (settings_.engine == TrainEngine::kUpstream) {
    TALLELE_TRY(EvaluateTraining(record.epoch, record, cancel));
  }
  TALLELE_TRY(EvaluateValidation(record, cancel));
  state_.lr_aux *= settings_.config.learning_rate_annealing;
  state_.lr_main *= settings_.config.learning_rate_annealing;
  record.lr_aux = state_.lr_aux;
  record.lr_main = state_.lr_main;
  record.saved_best = IsBetter(record.valid);
  if (record.saved_best) {
    KeepBest(record.epoch, record.valid);
    state_.patience = 0;
  } else {
    ++state_.patience;
  }
  state_.epoch = record.epoch;
  state_.random = random_->State();
  return record;
}

Result<PassResult> Trainer::TrainOnce(int64_t epoch, const CancelToken& cancel) {
  const std::vector<int64_t>& people = data_->rows[0];
  BatchLoader loader(*data_->people, training_tables_, loader_options_, people,
                     random_->BeginShuffledPass(epoch, 0, people.size()), epoch, *random_);
  double loss = 0;
  size_t right = 0, number = 0;
  for (;;) {
    if (cancel.cancelled()) return InterruptedError();
    TALLELE_ASSIGN(const std::optional<TrainingBatch> batch, loader.Next());
    if (!batch) break;
    ++number;
    TALLELE_ASSIGN(const float batch_loss, TrainBatch(*batch));
    if (!std::isfinite(batch_loss)) return NotANumber(epoch, number, batch_loss);
    loss += static_cast<double>(batch_loss) * static_cast<double>(batch->people.size());
    if (!data_->people->is_regression()) right += NumRight(main_network_.outputs(), batch->classes);
  }
  return PassResult{loss / static_cast<double>(people.size()), PerCent(right, people.size())};
}

Result<float> Trainer::TrainBatch(const TrainingBatch& batch) {
  Parameters& weights = state_.model.parameters;
  if (batch.is_sparse) {
    fat_layer_.Forward(weights, batch.sparse, batch.people.size(), sums_);
  } else {
    fat_layer_.Forward(weights, batch.dense, training_tables_, sums_);
  }
  const auto fill_mask = [&](size_t layer, size_t, size_t, std::span<uint8_t> keep) {
    std::copy(batch.unit_masks[layer].begin(), batch.unit_masks[layer].end(), keep.begin());
  };
  const float loss = main_network_.Forward(sums_, batch.targets(), settings_.config.dropout_main,
                                           fill_mask, state_.model);
  main_network_.Backward(state_.model, gradients_, sums_gradient_);
  if (batch.is_sparse) {
    fat_layer_.Backward(weights, batch.sparse, sums_gradient_, gradients_);
  } else {
    fat_layer_.Backward(weights, batch.dense, training_tables_, sums_gradient_, gradients_);
  }
  if (!std::isfinite(loss)) return loss;
  ++state_.steps;
  AdamStep(state_.lr_aux, state_.steps, weights.AuxiliaryTables(), gradients_.AuxiliaryTables(),
           state_.first_moments.AuxiliaryTables(), state_.second_moments.AuxiliaryTables());
  AdamStep(state_.lr_main, state_.steps, weights.MainTables(), gradients_.MainTables(),
           state_.first_moments.MainTables(), state_.second_moments.MainTables());
  return loss;
}

Error Trainer::NotANumber(int64_t epoch, size_t batch, float loss) const {
  const auto tables = gradients_.AllTables();
  const auto names = gradients_.TableNames();
  float largest = -1;
  std::string of;
  for (size_t t = 0; t < tables.size(); ++t) {
    for (const float g : tables[t]->all()) {
      const float size = std::isnan(g) ? std::numeric_limits<float>::infinity() : std::fabs(g);
      if (size > largest) {
        largest = size;
        of = names[t];
      }
    }
  }
  Error error = NumericError(
      "the loss is no number", fmt::format("epoch {}, batch {}", epoch, batch),
      "Lower lr_aux and lr_main, or raise batch_size; look for SNPs that hardly vary in the "
      "training people.");
  error.found = fmt::format("{}, largest gradient {} in {}", loss, largest, of);
  return error;
}

Result<void> Trainer::EvaluateTraining(int64_t epoch, EpochRecord& record,
                                       const CancelToken& cancel) {
  const std::vector<int64_t>& people = data_->rows[0];
  train_evaluation_people_.clear();
  for (const uint32_t place : random_->BeginShuffledPass(epoch, 1, people.size())) {
    train_evaluation_people_.push_back(people[place]);
  }
  TALLELE_ASSIGN(train_evaluation_, Evaluate(state_.model, train_evaluation_people_, cancel));
  record.train_evaluation = train_evaluation_.result;
  return {};
}

Result<void> Trainer::EvaluateValidation(EpochRecord& record, const CancelToken& cancel) {
  random_->BeginPlainPass();
  TALLELE_ASSIGN(valid_evaluation_, Evaluate(state_.model, data_->rows[1], cancel));
  record.valid = valid_evaluation_.result;
  return {};
}

bool Trainer::IsBetter(const PassResult& valid) const {
  const PassResult& best = state_.best.valid;
  if (data_->people->is_regression()) return valid.loss < best.loss;
  return valid.accuracy > best.accuracy ||
         (valid.accuracy == best.accuracy && valid.loss < best.loss);
}

void Trainer::KeepBest(int64_t epoch, const PassResult& valid) {
  state_.best = {epoch, valid, state_.model};
}

Result<Evaluation> Trainer::Evaluate(const ModelState& model, std::span<const int64_t> people,
                                     const CancelToken& cancel) {
  Evaluation evaluation;
  evaluation.outputs.Resize(people.size(), shape_.num_outputs);
  evaluation.hidden.Resize(people.size(), shape_.main.back());
  fat_layer_.PrepareEvaluation(model.parameters);
  std::vector<uint8_t> buffer;
  std::vector<const uint8_t*> rows;
  for (size_t first = 0; first < people.size(); first += kPeopleAtOnce) {
    if (cancel.cancelled()) return InterruptedError();
    const size_t count = std::min(kPeopleAtOnce, people.size() - first);
    TALLELE_TRY(data_->people->rows->Rows(people.subspan(first, count), buffer, rows));
    tbb::parallel_for(size_t{0}, (count + kPeoplePerTask - 1) / kPeoplePerTask, [&](size_t task) {
      const size_t begin = task * kPeoplePerTask;
      const size_t size = std::min(kPeoplePerTask, count - begin);
      FloatTable sums, outputs, hidden;
      fat_layer_.EvaluateSums(model.parameters, {rows.data() + begin, size}, evaluation_tables_,
                              sums);
      main_network_.Evaluate(sums, model, outputs, &hidden);
      std::copy_n(outputs.row(0), size * outputs.stride(), evaluation.outputs.row(first + begin));
      std::copy_n(hidden.row(0), size * hidden.stride(), evaluation.hidden.row(first + begin));
    });
  }
  evaluation.result = Score(people, evaluation.outputs);
  return evaluation;
}

// Batch by batch, as upstream adds up losses that it has rounded to float32.
PassResult Trainer::Score(std::span<const int64_t> people, const FloatTable& outputs) const {
  const TrainingPeople& data = *data_->people;
  const auto batch_size = static_cast<size_t>(settings_.config.batch_size);
  double loss = 0;
  size_t right = 0;
  for (size_t first = 0; first < people.size(); first += batch_size) {
    const size_t count = std::min(batch_size, people.size() - first);
    const FloatTable batch = Rows(outputs, first, count);
    const auto rows = people.subspan(first, count);
    float mean;
    if (data.is_regression()) {
      mean = SquaredError(batch, Take(data.values, rows), nullptr);
    } else {
      const std::vector<int64_t> classes = Take(data.classes, rows);
      mean = CrossEntropy(batch, classes, nullptr);
      right += NumRight(batch, classes);
    }
    loss += static_cast<double>(mean) * static_cast<double>(count);
  }
  return {loss / static_cast<double>(people.size()), PerCent(right, people.size())};
}

}  // namespace tallele

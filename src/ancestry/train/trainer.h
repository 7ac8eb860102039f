#ifndef TALLELE_ANCESTRY_TRAIN_TRAINER_H_
#define TALLELE_ANCESTRY_TRAIN_TRAINER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/train/batch_loader.h"
#include "ancestry/train/fat_layer.h"
#include "ancestry/train/fold_data.h"
#include "ancestry/train/main_network.h"
#include "base/cancel_token.h"

namespace tallele {

// Mean loss over people, and the share that gets its class, in per cent (0 in a regression).
struct PassResult {
  double loss = 0;
  double accuracy = 0;
};

// What an evaluation pass gives, people in the order asked for.
struct Evaluation {
  PassResult result;
  FloatTable outputs;  // logits, or the values of a regression
  FloatTable hidden;   // inputs of the output layer
};

struct EpochRecord {
  int64_t epoch = 0;                           // 0: the untrained baseline
  std::optional<PassResult> train;             // in training mode, while weights change
  std::optional<PassResult> train_evaluation;  // engine upstream only
  PassResult valid;
  double lr_aux = 0;  // for the next epoch
  double lr_main = 0;
  bool saved_best = false;
};

// What a model's training depends on, besides its data.
struct TrainSettings {
  TrainConfig config;
  TrainEngine engine = TrainEngine::kDietnet;
  int64_t seed = 0;
  bool plain = false;     // the MLP baseline
  bool normalise = true;  // inputs are divided by sd
  bool prefetch = true;   // changes no bit
  BatchPath path = BatchPath::kChoose;
  CpuTarget target = CpuTarget::kScalar;
};

struct BestModel {
  int64_t epoch = 0;
  PassResult valid;
  ModelState model;
};

// All that a training goes on from: equal states give equal futures.
struct TrainState {
  int64_t epoch = 0;  // finished ones
  ModelState model;
  Parameters first_moments;
  Parameters second_moments;
  int64_t steps = 0;  // of both optimisers
  double lr_aux = 0;
  double lr_main = 0;
  int64_t patience = 0;  // epochs since the best
  std::string random;
  BestModel best;
};

// Trains one model of a fold, epoch by epoch, by the rules of upstream's loop: training pass,
// (engine upstream) evaluation of the training set, evaluation of the validation set, annealing of
// both rates; the best model is the one of higher validation accuracy, or equal accuracy and lower
// loss (regression: lower loss); training stops after `patience` epochs without a better one.
class Trainer {
 public:
  Trainer(std::shared_ptr<const FoldData> data, TrainSettings settings);

  // Draws initial weights and evaluates them: record of epoch 0. Call this or Continue first.
  Result<EpochRecord> Begin(const CancelToken& cancel);
  // Goes on from a state of the same data and settings.
  Result<void> Continue(TrainState state);

  bool IsFinished() const;
  // One more epoch. After an error the state is no longer good for anything. A loss that is no
  // number is a numeric error with epoch, batch and largest gradient.
  Result<EpochRecord> RunEpoch(const CancelToken& cancel);

  const TrainState& state() const { return state_; }
  const NetworkShape& shape() const { return shape_; }
  const TrainSettings& settings() const { return settings_; }
  // The training people in the order of the last evaluation pass over them (engine upstream).
  const Evaluation& train_evaluation() const { return train_evaluation_; }
  const std::vector<int64_t>& train_evaluation_people() const { return train_evaluation_people_; }
  const Evaluation& valid_evaluation() const { return valid_evaluation_; }

  // Any people with any weights of this shape.
  Result<Evaluation> Evaluate(const ModelState& model, std::span<const int64_t> people,
                              const CancelToken& cancel);

 private:
  double InputDropout() const;
  Result<PassResult> TrainOnce(int64_t epoch, const CancelToken& cancel);
  Result<float> TrainBatch(const TrainingBatch& batch);
  Error NotANumber(int64_t epoch, size_t batch, float loss) const;
  Result<void> EvaluateTraining(int64_t epoch, EpochRecord& record, const CancelToken& cancel);
  Result<void> EvaluateValidation(EpochRecord& record, const CancelToken& cancel);
  bool IsBetter(const PassResult& valid) const;
  void KeepBest(int64_t epoch, const PassResult& valid);
  PassResult Score(std::span<const int64_t> people, const FloatTable& outputs) const;

  std::shared_ptr<const FoldData> data_;
  TrainSettings settings_;
  NetworkShape shape_;
  InputTables training_tables_;
  InputTables evaluation_tables_;
  LoaderOptions loader_options_;
  FatLayer fat_layer_;
  MainNetwork main_network_;
  std::unique_ptr<TrainingRandom> random_;
  TrainState state_;
  Parameters gradients_;
  FloatTable sums_, sums_gradient_;
  Evaluation train_evaluation_, valid_evaluation_;
  std::vector<int64_t> train_evaluation_people_;
};

// The class of the largest output, the lowest of equal ones.
size_t LargestOutput(const FloatTable& outputs, size_t row);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAINER_H_

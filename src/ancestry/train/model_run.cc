#include "ancestry/train/model_run.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/dataset_location.h"
#include "ancestry/model/text_inputs.h"
#include "ancestry/train/train_checkpoint.h"
#include "ancestry/train/train_outputs.h"
#include "base/atomic_file.h"
#include "base/hashing.h"
#include "results/run_lock.h"

namespace tallele {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kPlanFormat = 1;
// Upstream keeps predictions of the first epoch and of every hundredth after it.
constexpr int64_t kEpochsPerResults = 100;

template <typename T>
std::string DigestOf(const std::vector<T>& values) {
  return Sha256Hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// Everything that the results depend on.
json PlanOf(const ModelTask& task, const FoldData& data) {
  const TrainRequest& r = task.request;
  const TrainConfig& c = task.config;
  return {{"format", kPlanFormat},
          {"seed", task.seed},
          {"fold", task.fold},
          {"engine", r.engine == TrainEngine::kUpstream ? "upstream" : "dietnet"},
          {"task", r.regression ? "regression" : "classification"},
          {"model", r.plain ? "mlp" : "dietnet"},
          {"normalise", r.normalise},
          {"batch_size", c.batch_size},
          {"epochs", c.epochs},
          {"patience", c.patience},
          {"input_dropout", c.input_dropout},
          {"dropout_main", c.dropout_main},
          {"lr_aux", c.lr_aux},
          {"lr_main", c.lr_main},
          {"learning_rate_annealing", c.learning_rate_annealing},
          {"nb_hidden_u_aux", c.nb_hidden_u_aux},
          {"nb_hidden_u_main", c.nb_hidden_u_main},
          {"uniform_init_limit", c.uniform_init_limit},
          {"dataset_names", task.names_checksum},
          {"training_rows", DigestOf(data.rows[0])},
          {"validation_rows", DigestOf(data.rows[1])},
          {"test_rows", DigestOf(data.rows[2])},
          {"snps", data.inputs->snps.Identity()},
          {"means", DigestOf(data.inputs->means)},
          {"deviations", DigestOf(data.inputs->deviations)},
          {"embedding", DigestOf(data.inputs->embedding)},
          {"regression_values", DigestOf(data.people->values)}};
}

// Names the first difference between the plan of a folder and this one.
Result<void> ComparePlans(const std::string& folder, const json& plan) {
  const std::string path = folder + "/plan.json";
  TALLELE_ASSIGN(const std::string text, ReadTextFile(path));
  const json stored = json::parse(text, nullptr, false);
  if (!stored.is_object()) return InputError("the plan is no JSON object", path);
  for (const auto& [key, value] : plan.items()) {
    const json before = stored.value(key, json());
    if (before == value) continue;
    Error error = UsageError("--resume goes on with another training",
                             "Repeat the options and files of the run that began here, or choose "
                             "another --out.");
    error.where = path;
    error.found = fmt::format("{} {}", key, value.dump());
    error.expected = before.dump();
    return error;
  }
  return {};
}

json OutcomeJson(const ModelOutcome& o) {
  return {{"epochs", o.epochs},
          {"best_epoch", o.best_epoch},
          {"valid_loss", o.valid.loss},
          {"valid_accuracy", o.valid.accuracy},
          {"test_loss", o.test.loss},
          {"test_accuracy", o.test.accuracy},
          {"test_right", o.right},
          {"test_people", o.people},
          {"package", std::filesystem::path(o.package).filename().string()}};
}

Result<ModelOutcome> ReadOutcome(const ModelTask& task, const std::string& path) {
  TALLELE_ASSIGN(const std::string text, ReadTextFile(path));
  ModelOutcome o;
  o.seed = task.seed;
  o.fold = task.fold;
  o.was_finished = true;
  try {
    const json j = json::parse(text);
    o.epochs = j.at("epochs");
    o.best_epoch = j.at("best_epoch");
    o.valid = {j.at("valid_loss"), j.at("valid_accuracy")};
    o.test = {j.at("test_loss"), j.at("test_accuracy")};
    o.right = j.at("test_right").get<std::vector<int64_t>>();
    o.people = j.at("test_people").get<std::vector<int64_t>>();
    const std::string name = j.at("package");
    if (!name.empty()) o.package = task.request.out + "/" + name;
  } catch (const json::exception& exception) {
    return InputError(std::string("the outcome cannot be read: ") + exception.what(), path,
                      "Remove the file: --resume writes it again.");
  }
  return o;
}

class ModelRun {
 public:
  ModelRun(const ModelTask& task, std::shared_ptr<const FoldData> data, EventSink& events,
           const CancelToken& cancel)
      : task_(task),
        data_(std::move(data)),
        events_(events),
        cancel_(cancel),
        folder_(ModelFolder(task.request.out, task.seed, task.fold)),
        trainer_(data_, Settings()) {}

  Result<ModelOutcome> Run(const std::function<void(const EpochRecord&)>& on_epoch) {
    TALLELE_TRY(CheckModelFolder(folder_, task_.request.resume));
    TALLELE_TRY(PosixFileEnv().CreateFolders(folder_));
    TALLELE_ASSIGN(lock_, RunLock::Take(folder_));
    const json plan = PlanOf(task_, *data_);
    plan_text_ = plan.dump(1) + "\n";
    const bool begun = Exists("/plan.json");
    if (begun) {
      TALLELE_TRY(ComparePlans(folder_, plan));
      if (Exists("/outcome.json")) return ReadOutcome(task_, folder_ + "/outcome.json");
    } else {
      TALLELE_TRY(WriteFileAtomically(folder_ + "/plan.json", plan_text_));
    }
    results_ =
        task_.request.out + "/" + ResultsFolderName(trainer_, task_.request.regression, task_.fold);
    TALLELE_TRY(PosixFileEnv().CreateFolders(results_));
    TALLELE_TRY(Start());
    TALLELE_TRY(Train(on_epoch));
    return Finish();
  }

 private:
  TrainSettings Settings() const {
    TrainSettings s;
    s.config = task_.config;
    s.engine = task_.request.engine;
    s.seed = task_.seed;
    s.plain = task_.request.plain;
    s.normalise = task_.request.normalise;
    s.prefetch = task_.request.prefetch;
    s.target = task_.request.target;
    return s;
  }

  bool Exists(const char* name) const { return PosixFileEnv().Identity(folder_ + name).ok(); }

  Result<void> Start() {
    if (Exists("/state.npz") || Exists("/state.previous.npz")) {
      TALLELE_ASSIGN(TrainCheckpoint checkpoint,
                     ReadTrainCheckpoint(folder_, trainer_.shape(), events_));
      if (checkpoint.plan != Sha256Hex(plan_text_)) {
        return InputError("the state is of another training", folder_,
                          "Remove the folder to train the model from the start.");
      }
      epochs_ = std::move(checkpoint.epochs);
      return trainer_.Continue(std::move(checkpoint.state));
    }
    TALLELE_ASSIGN(const EpochRecord baseline, trainer_.Begin(cancel_));
    epochs_ = EpochHeader() + EpochLine(baseline);
    return Save();
  }

  Result<void> Train(const std::function<void(const EpochRecord&)>& on_epoch) {
    while (!trainer_.IsFinished()) {
      // What an interrupted epoch leaves of the state is of no use: keep the whole one in memory
      // unless it is on disk.
      std::optional<TrainState> whole;
      if (!saved_) whole = trainer_.state();
      auto record = trainer_.RunEpoch(cancel_);
      if (!record.ok()) {
        if (whole) TALLELE_TRY(Save(*whole));
        return std::move(record).error();
      }
      epochs_ += EpochLine(*record);
      saved_ = false;
      TALLELE_TRY(WriteEpochResults(*record));
      const std::chrono::duration<double> since = Clock::now() - last_save_;
      if (since.count() >= task_.request.checkpoint_seconds || trainer_.IsFinished()) {
        TALLELE_TRY(Save());
      }
      on_epoch(*record);
    }
    return {};
  }

  Result<void> Save() { return Save(trainer_.state()); }

  Result<void> Save(const TrainState& state) {
    TALLELE_TRY(lock_->Confirm());
    TALLELE_TRY(WriteFileAtomically(folder_ + "/epochs.tsv", epochs_));
    TALLELE_TRY(WriteTrainCheckpoint({Sha256Hex(plan_text_), epochs_, state}, folder_));
    saved_ = true;
    last_save_ = Clock::now();
    return {};
  }

  Result<void> WriteEpochResults(const EpochRecord& record) {
    if (task_.request.engine != TrainEngine::kUpstream || record.epoch % kEpochsPerResults != 1) {
      return {};
    }
    const auto path = [&](const char* set) {
      return fmt::format("{}/{}_results_epoch{}.npz", results_, set, record.epoch);
    };
    TALLELE_TRY(WriteResults(*data_->people, trainer_.train_evaluation_people(),
                             trainer_.train_evaluation().outputs, path("train")));
    return WriteResults(*data_->people, data_->rows[1], trainer_.valid_evaluation().outputs,
                        path("valid"));
  }

  Result<ModelOutcome> Finish() {
    const BestModel& best = trainer_.state().best;
    TALLELE_ASSIGN(const Evaluation test, trainer_.Evaluate(best.model, data_->rows[2], cancel_));
    TALLELE_TRY(WriteResults(*data_->people, data_->rows[2], test.outputs,
                             fmt::format("{}/test_results_epoch{}.npz", results_, best.epoch)));
    if (task_.request.save_pt) {
      const TrainState& last = trainer_.state();
      TALLELE_TRY(
          WriteModelPt(best.model, best.epoch, &best.valid, nullptr, results_ + "/best_model.pt"));
      TALLELE_TRY(WriteModelPt(last.model, last.epoch, nullptr, &last.patience,
                               results_ + "/last_model.pt"));
    }
    ModelOutcome outcome;
    outcome.seed = task_.seed;
    outcome.fold = task_.fold;
    outcome.epochs = trainer_.state().epoch;
    outcome.best_epoch = best.epoch;
    outcome.valid = best.valid;
    outcome.test = test.result;
    CountByClass(test.outputs, outcome);
    if (!task_.request.plain && !task_.request.regression) {
      TALLELE_ASSIGN(outcome.package, WriteModelPackage(best));
    }
    TALLELE_TRY(
        WriteFileAtomically(folder_ + "/outcome.json", OutcomeJson(outcome).dump(1) + "\n"));
    return outcome;
  }

  void CountByClass(const FloatTable& outputs, ModelOutcome& outcome) const {
    if (data_->people->is_regression()) return;
    outcome.right.assign(data_->people->class_names.size(), 0);
    outcome.people = outcome.right;
    for (size_t i = 0; i < data_->rows[2].size(); ++i) {
      const int64_t cls = data_->people->classes[static_cast<size_t>(data_->rows[2][i])];
      ++outcome.people[static_cast<size_t>(cls)];
      if (LargestOutput(outputs, i) == static_cast<size_t>(cls)) {
        ++outcome.right[static_cast<size_t>(cls)];
      }
    }
  }

  Result<std::string> WriteModelPackage(const BestModel& best) {
    ModelPackage package;
    package.seed = task_.seed;
    package.fold = task_.fold;
    package.epoch = best.epoch;
    package.mean_loss = best.valid.loss;
    package.mean_accuracy = best.valid.accuracy;
    package.normalised = task_.request.normalise;
    package.config = task_.config.text;
    package.network = ToNetwork(best.model);
    package.inputs = data_->inputs;
    const std::lock_guard lock(task_.packages);
    TALLELE_ASSIGN(std::string path, WritePackage(package, task_.request.out));
    TALLELE_TRY(WriteDatasetLocation(task_.request.out, data_->inputs->dataset_identity,
                                     task_.request.dataset));
    return path;
  }

  const ModelTask& task_;
  std::shared_ptr<const FoldData> data_;
  EventSink& events_;
  const CancelToken& cancel_;
  std::string folder_;
  std::string results_;
  std::string plan_text_;
  Trainer trainer_;
  std::unique_ptr<RunLock> lock_;
  std::string epochs_;
  bool saved_ = false;
  Clock::time_point last_save_ = Clock::now();
};

}  // namespace

std::string ModelFolder(const std::string& out, int64_t seed, int64_t fold) {
  return fmt::format("{}/seed_{}_fold_{}", out, seed, fold);
}

Result<void> CheckModelFolder(const std::string& folder, bool resume) {
  if (resume || !PosixFileEnv().Identity(folder + "/plan.json")) return {};
  Error error = UsageError("a training has begun in this folder",
                           "Add --resume to go on with it, or choose another --out.");
  error.where = folder;
  return error;
}

Result<ModelOutcome> RunModel(const ModelTask& task, std::shared_ptr<const FoldData> data,
                              const std::function<void(const EpochRecord&)>& on_epoch,
                              EventSink& events, const CancelToken& cancel) {
  return ModelRun(task, std::move(data), events, cancel).Run(on_epoch);
}

}  // namespace tallele

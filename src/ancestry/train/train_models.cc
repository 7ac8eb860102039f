#include "ancestry/train/train_models.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "ancestry/train/fold_source.h"
#include "ancestry/train/model_run.h"
#include "ancestry/train/train_events.h"
#include "base/machine.h"

namespace tallele {
namespace {

constexpr double kFewSnps = 200;
constexpr size_t kFewSteps = 5;
constexpr int64_t kFewPeople = 10;
constexpr double kSmallRate = 1e-3;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Warns about settings that make trainings fail, once for each fold.
class Advice {
 public:
  Advice(const TrainRequest& request, const TrainConfig& config, EventSink& events)
      : request_(request), config_(config), events_(events) {}

  Result<void> Check(const FoldData& data) const {
    const size_t n = data.rows[0].size();
    if (n < 2) {
      return InputError(fmt::format("fold {} has fewer than two training people", data.fold),
                        request_.partition);
    }
    const auto batch = static_cast<size_t>(config_.batch_size);
    const size_t steps = BatchSizes(n, batch).size();
    if (steps < kFewSteps) {
      Warn(data.fold, fmt::format("{} step(s) an epoch are too few to train well; lower batch_size "
                                  "({} for {} people)",
                                  steps, batch, n));
    }
    if (n > batch && n % batch == 1) {
      Warn(data.fold, "the last batch would hold one person, who is added to the batch before it");
    }
    const double kept = (1 - config_.input_dropout) * static_cast<double>(data.people->num_snps);
    if (!request_.plain && kept < kFewSnps) {
      Warn(data.fold,
           fmt::format("input dropout {} keeps {:.0f} SNPs of a person, fewer than {:.0f}"
                       "; lower input_dropout",
                       config_.input_dropout, kept, kFewSnps));
    }
    WarnAboutClasses(data);
    WarnAboutRates(data.fold);
    return {};
  }

 private:
  void Warn(int64_t fold, const std::string& text) const {
    events_.Message(Severity::kWarning, fmt::format("Fold {}: {}.", fold, text));
  }

  void WarnAboutClasses(const FoldData& data) const {
    const TrainingPeople& people = *data.people;
    if (people.is_regression()) return;
    std::vector<int64_t> sizes(people.class_names.size(), 0);
    for (const int64_t row : data.rows[0]) {
      ++sizes[static_cast<size_t>(people.classes[static_cast<size_t>(row)])];
    }
    for (size_t c = 0; c < sizes.size(); ++c) {
      if (sizes[c] >= kFewPeople) continue;
      Warn(data.fold, fmt::format("class {} has {} training people, fewer than {}",
                                  people.class_names[c], sizes[c], kFewPeople));
    }
  }

  // The last epochs that patience pays for must still be able to change the weights.
  void WarnAboutRates(int64_t fold) const {
    double rate = 1;
    int64_t epoch = 0;
    while (epoch < config_.epochs && rate >= kSmallRate && config_.learning_rate_annealing < 1) {
      rate *= config_.learning_rate_annealing;
      ++epoch;
    }
    if (rate >= kSmallRate || epoch >= config_.epochs || epoch >= config_.patience) return;
    Warn(fold, fmt::format("from epoch {} on the learning rates are below a thousandth of their "
                           "start, while patience ({}) goes on; raise learning_rate_annealing or "
                           "lower patience",
                           epoch, config_.patience));
  }

  const TrainRequest& request_;
  const TrainConfig& config_;
  EventSink& events_;
};

class TrainingRun {
 public:
  TrainingRun(const TrainRequest& request, EventSink& events, const CancelToken& cancel)
      : request_(request), events_(events), cancel_(cancel) {}

  Result<TrainSummary> Run() {
    TALLELE_ASSIGN(config_, ReadTrainConfig(request_.config, events_));
    TALLELE_TRY(ListModels());
    TALLELE_ASSIGN(source_, FoldSource::Open(request_, events_, cancel_));
    TALLELE_TRY(ListFolds());
    for (const ModelOutcome& model : models_) {
      TALLELE_TRY(
          CheckModelFolder(ModelFolder(request_.out, model.seed, model.fold), request_.resume));
    }
    TALLELE_TRY(PosixFileEnv().CreateFolders(request_.out));
    TALLELE_TRY(OpenEvents());
    RunAll();
    if (cancel_.cancelled()) return Stopped();
    TrainSummary summary;
    summary.models = std::move(models_);
    summary.class_names = source_->people().class_names;
    summary.regression = request_.regression;
    summary.rows = source_->people().rows->Description();
    return summary;
  }

 private:
  Result<void> ListModels() {
    seeds_ = request_.seeds;
    if (seeds_.empty() && config_.seed) seeds_.push_back(*config_.seed);
    if (seeds_.empty()) {
      return UsageError("no seed is given",
                        "Give --seeds 78,79,80, or `seed` in the configuration.");
    }
    std::vector<int64_t> sorted = seeds_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return UsageError("a seed is given twice");
    }
    if (sorted.front() < 0) return UsageError("a seed is negative");
    return {};
  }

  Result<void> ListFolds() {
    std::vector<int64_t> sorted = source_->folds();
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return UsageError("a fold is given twice");
    }
    for (const int64_t fold : source_->folds()) {
      for (const int64_t seed : seeds_) {
        ModelOutcome& model = models_.emplace_back();
        model.seed = seed;
        model.fold = fold;
      }
    }
    return {};
  }

  // After everything that can refuse the run, so that a refused one leaves nothing.
  Result<void> OpenEvents() {
    if (request_.events.empty()) return {};
    const std::string folder = std::filesystem::path(request_.events).parent_path().string();
    if (!folder.empty()) TALLELE_TRY(PosixFileEnv().CreateFolders(folder));
    return events_.Open(request_.events);
  }

  void RunAll() {
    const int threads = request_.num_threads > 0 ? request_.num_threads : AvailableProcessors();
    const auto models = static_cast<int>(models_.size());
    const int jobs = std::clamp(request_.num_jobs > 0 ? request_.num_jobs : threads, 1, models);
    // An arena counts the thread that enters it.
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(std::max(threads, jobs)));
    TellRunStarted(request_, models_, jobs, events_);
    std::vector<std::thread> workers;
    for (int job = 0; job < jobs; ++job) {
      workers.emplace_back([this, jobs, threads] {
        tbb::task_arena arena(std::max(1, threads / jobs));
        arena.execute([this] { Work(); });
      });
    }
    for (std::thread& worker : workers) worker.join();
    TellRunFinished(models_, cancel_.signal_number(), SecondsSince(start_), events_);
  }

  void Work() {
    for (size_t next = next_model_++; next < models_.size(); next = next_model_++) {
      if (cancel_.cancelled()) return;
      ModelOutcome& model = models_[next];
      const Clock::time_point start = Clock::now();
      auto outcome = Train(model);
      if (outcome.ok()) {
        model = std::move(*outcome);
      } else {
        model.error = std::move(outcome).error();
      }
      TellModelFinished(model, SecondsSince(start), request_.regression, events_);
      if (model.error && model.error->kind != ErrorKind::kInterrupted) {
        events_.Message(Severity::kWarning, fmt::format("Seed {}, fold {}: {}", model.seed,
                                                        model.fold, model.error->Message()));
      }
    }
  }

  Result<ModelOutcome> Train(const ModelOutcome& model) {
    TALLELE_ASSIGN(const auto data, source_->Get(model.fold));
    if (model.seed == seeds_.front()) {
      TALLELE_TRY(Advice(request_, config_, events_).Check(*data));
    }
    const ModelTask task{request_,   config_,    source_->names_checksum(),
                         model.seed, model.fold, packages_};
    TellModelStarted(model, *data, config_.epochs, events_);
    TrainingPace pace;
    pace.training_people = static_cast<int64_t>(data->rows[0].size());
    pace.most_epochs = config_.epochs;
    const auto on_epoch = [&](const EpochRecord& record) {
      TellEpoch(model, record, request_.regression, pace, events_);
      Report(model, record);
    };
    return RunModel(task, data, on_epoch, events_, cancel_);
  }

  void Report(const ModelOutcome& model, const EpochRecord& r) {
    const int64_t done = ++epochs_done_;
    events_.Message(Severity::kDetail,
                    fmt::format("seed {} fold {} epoch {}: training loss {:.5f}, validation loss "
                                "{:.5f}, accuracy {:.2f} %{}",
                                model.seed, model.fold, r.epoch, r.train->loss, r.valid.loss,
                                r.valid.accuracy, r.saved_best ? ", best" : ""));
    events_.Progress({.unit = "epochs at most",
                      .done = done,
                      .total = config_.epochs * static_cast<int64_t>(models_.size()),
                      .elapsed_seconds = SecondsSince(start_),
                      .final = false});
  }

  Error Stopped() const {
    Error error = InterruptedError();
    error.what = "the training was interrupted; every model's last whole epoch is on disk";
    error.where = request_.out;
    error.advice = "Run the same command with --resume to go on.";
    return error;
  }

  const TrainRequest& request_;
  TrainEvents events_;
  const CancelToken& cancel_;
  TrainConfig config_;
  std::vector<int64_t> seeds_;
  std::unique_ptr<FoldSource> source_;
  std::vector<ModelOutcome> models_;
  std::atomic<size_t> next_model_{0};
  std::atomic<int64_t> epochs_done_{0};
  const Clock::time_point start_ = Clock::now();
  std::mutex packages_;
};

}  // namespace

size_t TrainSummary::NumFailed() const {
  return static_cast<size_t>(std::count_if(
      models.begin(), models.end(), [](const ModelOutcome& m) { return m.error.has_value(); }));
}

Result<TrainSummary> TrainModels(const TrainRequest& request, EventSink& events,
                                 const CancelToken& cancel) {
  return TrainingRun(request, events, cancel).Run();
}

}  // namespace tallele

#include "ancestry/train/train_events.h"

#include <fmt/format.h>

namespace tallele {
namespace {

using Fields = std::vector<EventField>;

void AddPass(std::string_view loss, std::string_view accuracy, const PassResult& pass,
             bool regression, Fields& fields) {
  fields.push_back({loss, pass.loss});
  if (!regression) fields.push_back({accuracy, pass.accuracy});
}

std::string_view StatusOf(const ModelOutcome& model) {
  if (model.was_finished) return "finished_before";
  if (!model.error) return "completed";
  return model.error->kind == ErrorKind::kInterrupted ? "interrupted" : "failed";
}

}  // namespace

class TrainEvents::Gate final : public EventSink {
 public:
  explicit Gate(EventSink& next) : next_(next) {}
  void Open() { open_ = true; }

  void Message(Severity severity, std::string_view text) override {
    if (open_) next_.Message(severity, text);
  }
  void Progress(const ProgressReport& report) override { next_.Progress(report); }
  void Event(std::string_view name, std::span<const EventField> fields) override {
    next_.Event(name, fields);
  }

 private:
  EventSink& next_;
  bool open_ = false;
};

Result<void> TrainEvents::Open(const std::string& path) {
  auto gate = std::make_unique<Gate>(next_);
  TALLELE_ASSIGN(log_, EventLog::Open(path, AttemptName(), *gate));
  for (const std::string& text : early_warnings_) log_->Message(Severity::kWarning, text);
  gate->Open();
  gate_ = std::move(gate);
  return {};
}

EventSink& TrainEvents::sink() { return log_ ? static_cast<EventSink&>(*log_) : next_; }

void TrainEvents::Message(Severity severity, std::string_view text) {
  if (!log_ && severity == Severity::kWarning) early_warnings_.emplace_back(text);
  sink().Message(severity, text);
}

void TrainEvents::Progress(const ProgressReport& report) { sink().Progress(report); }

void TrainEvents::Event(std::string_view name, std::span<const EventField> fields) {
  sink().Event(name, fields);
}

void TellRunStarted(const TrainRequest& request, const std::vector<ModelOutcome>& models, int jobs,
                    EventSink& events) {
  const EventField fields[] = {
      {"version", std::string_view(request.version)},
      {"models", static_cast<int64_t>(models.size())},
      {"engine",
       std::string_view(request.engine == TrainEngine::kUpstream ? "upstream" : "dietnet")},
      {"task", std::string_view(request.regression ? "regression" : "classification")},
      {"model", std::string_view(request.plain ? "mlp" : "dietnet")},
      {"jobs", int64_t{jobs}},
      {"resume", request.resume}};
  events.Event("run_started", fields);
}

void TellModelStarted(const ModelOutcome& model, const FoldData& data, int64_t most_epochs,
                      EventSink& events) {
  const EventField fields[] = {{"seed", model.seed},
                               {"fold", model.fold},
                               {"most_epochs", most_epochs},
                               {"training_people", static_cast<int64_t>(data.rows[0].size())},
                               {"validation_people", static_cast<int64_t>(data.rows[1].size())},
                               {"test_people", static_cast<int64_t>(data.rows[2].size())}};
  events.Event("model_started", fields);
}

void TellEpoch(const ModelOutcome& model, const EpochRecord& r, bool regression, TrainingPace& pace,
               EventSink& events) {
  ++pace.epochs;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - pace.start;
  const double seconds = elapsed.count() / static_cast<double>(pace.epochs);
  Fields fields = {{"seed", model.seed},
                   {"fold", model.fold},
                   {"epoch", r.epoch},
                   {"most_epochs", pace.most_epochs}};
  AddPass("train_loss", "train_accuracy", *r.train, regression, fields);
  if (r.train_evaluation) {
    AddPass("train_eval_loss", "train_eval_accuracy", *r.train_evaluation, regression, fields);
  }
  AddPass("valid_loss", "valid_accuracy", r.valid, regression, fields);
  fields.push_back({"lr_aux", r.lr_aux});
  fields.push_back({"lr_main", r.lr_main});
  fields.push_back({"saved_best", r.saved_best});
  fields.push_back({"seconds_an_epoch", seconds});
  fields.push_back({"people_a_second", static_cast<double>(pace.training_people) / seconds});
  fields.push_back(
      {"seconds_left_at_most", seconds * static_cast<double>(pace.most_epochs - r.epoch)});
  events.Event("epoch", fields);
}

void TellModelFinished(const ModelOutcome& model, double seconds, bool regression,
                       EventSink& events) {
  const std::string error = model.error ? model.error->Message() : "";
  Fields fields = {{"seed", model.seed},
                   {"fold", model.fold},
                   {"status", StatusOf(model)},
                   {"error", std::string_view(error)},
                   {"seconds", seconds}};
  if (!model.error) {
    fields.push_back({"epochs", model.epochs});
    fields.push_back({"best_epoch", model.best_epoch});
    AddPass("valid_loss", "valid_accuracy", model.valid, regression, fields);
    AddPass("test_loss", "test_accuracy", model.test, regression, fields);
  }
  events.Event("model_finished", fields);
}

void TellRunFinished(const std::vector<ModelOutcome>& models, int signal_number, double seconds,
                     EventSink& events) {
  int64_t failed = 0;
  for (const ModelOutcome& model : models) {
    failed += model.error && model.error->kind != ErrorKind::kInterrupted;
  }
  const auto total = static_cast<int64_t>(models.size());
  const std::string_view status = signal_number != 0 ? "interrupted"
                                  : failed == 0      ? "completed"
                                  : failed < total   ? "partial"
                                                     : "failed";
  const EventField fields[] = {{"status", status},
                               {"signal", int64_t{signal_number}},
                               {"models", total},
                               {"failed", failed},
                               {"seconds", seconds}};
  events.Event("run_finished", fields);
}

}  // namespace tallele

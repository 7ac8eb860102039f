#ifndef TALLELE_ANCESTRY_TRAIN_TRAIN_EVENTS_H_
#define TALLELE_ANCESTRY_TRAIN_TRAIN_EVENTS_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ancestry/train/train_models.h"
#include "results/event_log.h"

namespace tallele {

// What a training says to machines (docs/formats/training.md, "Events") and, through the same
// sink, to people. Thread-safe after Open.
class TrainEvents final : public EventSink {
 public:
  // Everything also goes to `next`, which must outlive this.
  explicit TrainEvents(EventSink& next) : next_(next) {}

  // Opens the file, to append; warnings told before that are written to it first. Without it
  // events go to `next` alone.
  Result<void> Open(const std::string& path);

  void Message(Severity severity, std::string_view text) override;
  void Progress(const ProgressReport& report) override;
  void Event(std::string_view name, std::span<const EventField> fields) override;

 private:
  // Passes on or, while old warnings are written, swallows.
  class Gate;

  EventSink& sink();

  EventSink& next_;
  std::vector<std::string> early_warnings_;
  std::unique_ptr<EventSink> gate_;
  std::unique_ptr<EventLog> log_;
};

// How fast a model trains since this attempt began with it.
struct TrainingPace {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  int64_t epochs = 0;
  int64_t training_people = 0;
  int64_t most_epochs = 0;  // of the model, those of earlier attempts included
};

void TellRunStarted(const TrainRequest& request, const std::vector<ModelOutcome>& models, int jobs,
                    EventSink& events);
void TellModelStarted(const ModelOutcome& model, const FoldData& data, int64_t most_epochs,
                      EventSink& events);
// Counts the epoch in `pace`.
void TellEpoch(const ModelOutcome& model, const EpochRecord& record, bool regression,
               TrainingPace& pace, EventSink& events);
// `error`: as in the outcome, but also for models that were interrupted.
void TellModelFinished(const ModelOutcome& model, double seconds, bool regression,
                       EventSink& events);
void TellRunFinished(const std::vector<ModelOutcome>& models, int signal_number, double seconds,
                     EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAIN_EVENTS_H_

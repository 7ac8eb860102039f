#ifndef TALLELE_CLI_TRAIN_DISPLAY_H_
#define TALLELE_CLI_TRAIN_DISPLAY_H_

#include "cli/console.h"

namespace tallele {

// Shows the events of a training to people: a status line for every model that trains and a message
// when one is finished. Everything else goes to the console as it is.
class TrainDisplay final : public EventSink {
 public:
  explicit TrainDisplay(Console& console) : console_(console) {}

  void Message(Severity severity, std::string_view text) override {
    console_.Message(severity, text);
  }
  void Progress(const ProgressReport& report) override { console_.Progress(report); }
  void Event(std::string_view name, std::span<const EventField> fields) override;

 private:
  Console& console_;
};

}  // namespace tallele

#endif  // TALLELE_CLI_TRAIN_DISPLAY_H_

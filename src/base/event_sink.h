#ifndef TALLELE_BASE_EVENT_SINK_H_
#define TALLELE_BASE_EVENT_SINK_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tallele {

enum class Severity { kDetail, kInfo, kWarning };

// How far a long job is. Counts are in the job's own unit (variants, people).
struct ProgressReport {
  std::string_view unit;  // plural: "variants"
  int64_t done = 0;
  int64_t total = 0;
  double elapsed_seconds = 0;
  bool final = false;
};

// One named value of an event.
struct EventField {
  std::string_view name;
  std::variant<bool, int64_t, double, std::string_view> value;
};

// Where libraries say what they do; they never print. Thread-safe in every
// implementation. No sample identifier and no genotype may go through it.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Message(Severity severity, std::string_view text) = 0;
  virtual void Progress(const ProgressReport& report) = 0;
  // Something that a machine may want to read ("chromosome_started"); most sinks do not.
  virtual void Event(std::string_view name, std::span<const EventField> fields) {
    static_cast<void>(name);
    static_cast<void>(fields);
  }
};

// Swallows everything; for tests and for callers that do not care.
class NullEventSink final : public EventSink {
 public:
  void Message(Severity, std::string_view) override {}
  void Progress(const ProgressReport&) override {}
};

}  // namespace tallele

#endif  // TALLELE_BASE_EVENT_SINK_H_

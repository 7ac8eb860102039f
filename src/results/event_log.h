#ifndef TALLELE_RESULTS_EVENT_LOG_H_
#define TALLELE_RESULTS_EVENT_LOG_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// A name for an attempt at a run: when it began and by which process.
std::string AttemptName();

// Appends events to a file of JSON lines (docs/formats/telemetry.md) from a thread of its own, and
// passes everything on to another sink. Whoever reports never waits for the disk: lines wait in a
// queue of bounded length, and those that find it full are dropped and counted.
class EventLog final : public EventSink {
 public:
  // Opens `path` to append; `next` must outlive the log. `run` names this attempt in every line.
  static Result<std::unique_ptr<EventLog>> Open(const std::string& path, std::string run,
                                                EventSink& next, size_t queue_length = 1024);
  // Writes what is queued and a last line with the counts.
  ~EventLog() override;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Warnings become events; other messages are for people and the log file.
  void Message(Severity severity, std::string_view text) override;
  // At most one event every five seconds, and the final one.
  void Progress(const ProgressReport& report) override;
  void Event(std::string_view name, std::span<const EventField> fields) override;

 private:
  EventLog(std::FILE* file, std::string run, EventSink& next, size_t queue_length)
      : file_(file), run_(std::move(run)), next_(next), queue_length_(queue_length) {}
  void Push(std::string_view event, std::string_view level, std::span<const EventField> fields);
  std::string Line(std::string_view event, std::string_view level,
                   std::span<const EventField> fields) const;
  void WriteQueued();

  std::FILE* file_;
  const std::string run_;
  EventSink& next_;
  const size_t queue_length_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> queue_;
  bool closing_ = false;
  int64_t accepted_ = 0;
  int64_t written_ = 0;
  int64_t dropped_ = 0;
  bool reported_ = false;
  std::chrono::steady_clock::time_point last_progress_;
  std::thread writer_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_EVENT_LOG_H_

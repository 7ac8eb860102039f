#include "results/event_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "results/run_manifest.h"

namespace tallele {
namespace {

constexpr int kEventSchema = 1;
constexpr size_t kLineBuffer = 16384;
constexpr auto kProgressInterval = std::chrono::seconds(5);

}  // namespace

std::string AttemptName() {
  return fmt::format("{}-{}", std::chrono::system_clock::now().time_since_epoch().count(),
                     getpid());
}

Result<std::unique_ptr<EventLog>> EventLog::Open(const std::string& path, std::string run,
                                                 EventSink& next, size_t queue_length) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return IoError("cannot write the event log", path, errno);
  // A line is one write, so that processes which append to one file do not mix their lines.
  setvbuf(file, nullptr, _IOLBF, kLineBuffer);
  std::unique_ptr<EventLog> log(new EventLog(file, std::move(run), next, queue_length));
  log->writer_ = std::thread([raw = log.get()] { raw->WriteQueued(); });
  return log;
}

EventLog::~EventLog() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  writer_.join();
  const EventField counts[] = {
      {"accepted", accepted_}, {"written", written_}, {"dropped", dropped_}};
  std::fputs(Line("log_closed", "info", counts).c_str(), file_);
  std::fclose(file_);
}

std::string EventLog::Line(std::string_view event, std::string_view level,
                           std::span<const EventField> fields) const {
  nlohmann::ordered_json line;
  line["schema"] = kEventSchema;
  line["event"] = event;
  line["level"] = level;
  line["time"] = UtcNow();
  line["run"] = run_;
  line["fields"] = nlohmann::ordered_json::object();
  for (const EventField& field : fields) {
    std::visit([&](const auto& value) { line["fields"][std::string(field.name)] = value; },
               field.value);
  }
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void EventLog::Push(std::string_view event, std::string_view level,
                    std::span<const EventField> fields) {
  {
    const std::lock_guard guard(mutex_);
    if (queue_.size() >= queue_length_) {
      ++dropped_;
      return;
    }
    ++accepted_;
    queue_.push_back(Line(event, level, fields));
  }
  wake_.notify_one();
}

void EventLog::WriteQueued() {
  std::unique_lock guard(mutex_);
  for (;;) {
    wake_.wait(guard, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::deque<std::string> lines;
    lines.swap(queue_);
    guard.unlock();
    int64_t written = 0;
    for (const std::string& line : lines) written += std::fputs(line.c_str(), file_) >= 0;
    if (std::fflush(file_) != 0) written = 0;
    guard.lock();
    written_ += written;
  }
}

void EventLog::Message(Severity severity, std::string_view text) {
  if (severity == Severity::kWarning) {
    const EventField fields[] = {{"text", text}};
    Push("warning", "warning", fields);
  }
  next_.Message(severity, text);
}

void EventLog::Progress(const ProgressReport& report) {
  next_.Progress(report);
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard guard(mutex_);
    if (reported_ && !report.final && now - last_progress_ < kProgressInterval) return;
    reported_ = true;
    last_progress_ = now;
  }
  const double percent = report.total > 0 ? 100.0 * static_cast<double>(report.done) /
                                                static_cast<double>(report.total)
                                          : 100.0;
  const EventField fields[] = {{"unit", report.unit},
                               {"done", report.done},
                               {"total", report.total},
                               {"percent", percent},
                               {"elapsed_seconds", report.elapsed_seconds},
                               {"final", report.final}};
  Push("run_progress", "info", fields);
}

void EventLog::Event(std::string_view name, std::span<const EventField> fields) {
  Push(name, "info", fields);
  next_.Event(name, fields);
}

}  // namespace tallele

#ifndef TALLELE_CLI_CONSOLE_H_
#define TALLELE_CLI_CONSOLE_H_

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// "12 s", "3 min 05 s", "2 h 00 min".
std::string DurationText(double seconds);

// Shows a run to the user: messages and progress on standard error and output, everything in a log
// file. Progress is one line that renews itself on a terminal, and a plain line every ten seconds
// elsewhere; the parts of a job can have lines of their own.
class Console final : public EventSink {
 public:
  struct Options {
    bool quiet = false;    // warnings and errors only
    bool verbose = false;  // details too
  };

  explicit Console(Options options);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Opens the log file, emptied unless `append`. Messages before that are kept and written to it.
  Result<void> OpenLog(const std::string& path, bool append);

  void Message(Severity severity, std::string_view text) override;
  void Progress(const ProgressReport& report) override;

  // The state of one part of a job that has several, such as a model in training: one line each,
  // renewed in place on a terminal, printed once a minute elsewhere. Empty text ends the part.
  void Status(const std::string& part, std::string_view text);

  // A line of the plan or the summary: to the log, and to standard output unless quiet.
  void Print(std::string_view line);
  // To the log alone.
  void Log(std::string_view line);

 private:
  struct StatusLine {
    std::string text;
    std::chrono::steady_clock::time_point printed;  // where there is no terminal
  };

  void WriteLog(std::string_view line);
  void ClearLiveLines();
  void DrawLiveLines();

  Options options_;
  bool terminal_;
  std::mutex mutex_;
  std::FILE* log_ = nullptr;
  std::string before_log_;
  std::map<std::string, StatusLine> statuses_;
  std::string progress_;    // of the job as a whole
  size_t lines_shown_ = 0;  // the last of them holds the cursor
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace tallele

#endif  // TALLELE_CLI_CONSOLE_H_

#ifndef TALLELE_CLI_CONSOLE_H_
#define TALLELE_CLI_CONSOLE_H_

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Shows a run to the user: messages and progress on standard error and output, everything in a log
// file. Progress is one line that renews itself on a terminal, and a plain line every ten seconds
// elsewhere.
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

  // A line of the plan or the summary: to the log, and to standard output unless quiet.
  void Print(std::string_view line);
  // To the log alone.
  void Log(std::string_view line);

 private:
  void WriteLog(std::string_view line);
  void ClearProgressLine();

  Options options_;
  bool terminal_;
  std::mutex mutex_;
  std::FILE* log_ = nullptr;
  std::string before_log_;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace tallele

#endif  // TALLELE_CLI_CONSOLE_H_

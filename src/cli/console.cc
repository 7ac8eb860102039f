#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/format_number.h"

namespace tallele {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kPlainInterval = std::chrono::seconds(10);

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string ProgressLine(const ProgressReport& report) {
  const double share =
      report.total > 0 ? static_cast<double>(report.done) / static_cast<double>(report.total) : 1;
  const double rate =
      report.elapsed_seconds > 0 ? static_cast<double>(report.done) / report.elapsed_seconds : 0;
  std::string line =
      fmt::format("{:5.1f} %  {} of {} {}", 100 * share, FormatThousands(report.done),
                  FormatThousands(report.total), report.unit);
  if (rate > 0) line += fmt::format("  {}/s", FormatThousands(static_cast<int64_t>(rate)));
  if (rate > 0 && report.done < report.total) {
    line += "  " + Duration(static_cast<double>(report.total - report.done) / rate) + " left";
  }
  return line;
}

}  // namespace

Console::Console(Options options) : options_(options), terminal_(isatty(STDERR_FILENO) != 0) {}

Console::~Console() {
  ClearProgressLine();
  if (log_ != nullptr) std::fclose(log_);
}

Result<void> Console::OpenLog(const std::string& path, bool append) {
  const std::lock_guard lock(mutex_);
  log_ = std::fopen(path.c_str(), append ? "a" : "w");
  if (log_ == nullptr) return IoError("cannot write the log file", path, errno);
  setvbuf(log_, nullptr, _IOLBF, 0);
  std::fputs(before_log_.c_str(), log_);
  before_log_.clear();
  return {};
}

void Console::WriteLog(std::string_view line) {
  if (log_ == nullptr) {
    before_log_.append(line).append(1, '\n');
  } else {
    std::fprintf(log_, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
}

void Console::ClearProgressLine() {
  if (!progress_shown_) return;
  std::fputs("\r\033[K", stderr);
  progress_shown_ = false;
}

void Console::Message(Severity severity, std::string_view text) {
  const std::lock_guard lock(mutex_);
  const bool warning = severity == Severity::kWarning;
  const std::string line = (warning ? "Warning: " : "") + std::string(text);
  WriteLog(line);
  const bool shown =
      warning || (!options_.quiet && (severity == Severity::kInfo || options_.verbose));
  if (!shown) return;
  ClearProgressLine();
  std::fprintf(warning ? stderr : stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

void Console::Progress(const ProgressReport& report) {
  const std::lock_guard lock(mutex_);
  if (options_.quiet) return;
  const auto now = std::chrono::steady_clock::now();
  if (report.final) {
    ClearProgressLine();
    return;
  }
  if (now - last_progress_ < (terminal_ ? std::chrono::nanoseconds(kTerminalInterval)
                                        : std::chrono::nanoseconds(kPlainInterval))) {
    return;
  }
  // A plain log gets its first line only once there is something to tell.
  if (!terminal_ && last_progress_ == std::chrono::steady_clock::time_point{}) {
    last_progress_ = now;
    return;
  }
  last_progress_ = now;
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", ProgressLine(report).c_str());
    progress_shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", ProgressLine(report).c_str());
  }
  std::fflush(stderr);
}

void Console::Print(std::string_view line) {
  const std::lock_guard lock(mutex_);
  WriteLog(line);
  if (options_.quiet) return;
  ClearProgressLine();
  std::fprintf(stdout, "%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

void Console::Log(std::string_view line) {
  const std::lock_guard lock(mutex_);
  WriteLog(line);
}

}  // namespace tallele

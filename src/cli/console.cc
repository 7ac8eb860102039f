#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/format_number.h"

namespace tallele {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kPlainInterval = std::chrono::seconds(10);
constexpr auto kPlainStatusInterval = std::chrono::seconds(60);

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
    line += "  " + DurationText(static_cast<double>(report.total - report.done) / rate) + " left";
  }
  return line;
}

// What live lines may fill: a line that the terminal breaks could not be taken back.
struct TerminalSize {
  size_t columns = 79;
  size_t lines = 23;
};

TerminalSize SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 2) return {};
  return {size.ws_col - 1u, size.ws_row - 1u};
}

}  // namespace

std::string DurationText(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Console::Console(Options options) : options_(options), terminal_(isatty(STDERR_FILENO) != 0) {}

Console::~Console() {
  ClearLiveLines();
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

void Console::ClearLiveLines() {
  if (lines_shown_ == 0) return;
  std::fputs("\r", stderr);
  if (lines_shown_ > 1) std::fprintf(stderr, "\033[%zuA", lines_shown_ - 1);
  std::fputs("\033[J", stderr);
  lines_shown_ = 0;
}

void Console::DrawLiveLines() {
  ClearLiveLines();
  const TerminalSize size = SizeOfTerminal();
  const auto show = [&](const std::string& line) {
    if (line.empty() || lines_shown_ == size.lines) return;
    std::fprintf(stderr, "%s%s", lines_shown_ > 0 ? "\n" : "",
                 line.substr(0, size.columns).c_str());
    ++lines_shown_;
  };
  for (const auto& [part, status] : statuses_) show(status.text);
  show(progress_);
  std::fflush(stderr);
}

void Console::Message(Severity severity, std::string_view text) {
  const std::lock_guard lock(mutex_);
  const bool warning = severity == Severity::kWarning;
  const std::string line = (warning ? "Warning: " : "") + std::string(text);
  WriteLog(line);
  const bool shown =
      warning || (!options_.quiet && (severity == Severity::kInfo || options_.verbose));
  if (!shown) return;
  ClearLiveLines();
  std::fprintf(warning ? stderr : stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

void Console::Progress(const ProgressReport& report) {
  const std::lock_guard lock(mutex_);
  if (options_.quiet) return;
  const auto now = std::chrono::steady_clock::now();
  if (report.final) {
    progress_.clear();
    ClearLiveLines();
    return;
  }
  if (terminal_) progress_ = ProgressLine(report);
  if (now - last_progress_ < (terminal_ ? std::chrono::nanoseconds(kTerminalInterval)
                                        : std::chrono::nanoseconds(kPlainInterval))) {
    return;
  }
  // A plain log gets its first line only once there is something to tell.
  const bool first = last_progress_ == std::chrono::steady_clock::time_point{};
  last_progress_ = now;
  if (terminal_) {
    DrawLiveLines();
  } else if (!first) {
    std::fprintf(stderr, "%s\n", ProgressLine(report).c_str());
    std::fflush(stderr);
  }
}

void Console::Status(const std::string& part, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (options_.quiet) return;
  if (text.empty()) {
    statuses_.erase(part);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  const auto [place, is_new] = statuses_.try_emplace(part);
  StatusLine& status = place->second;
  status.text = text;
  if (is_new) status.printed = now;
  if (terminal_) {
    if (now - last_progress_ < kTerminalInterval) return;
    last_progress_ = now;
    DrawLiveLines();
  } else if (now - status.printed >= kPlainStatusInterval) {
    status.printed = now;
    std::fprintf(stderr, "%s\n", status.text.c_str());
    std::fflush(stderr);
  }
}

void Console::Print(std::string_view line) {
  const std::lock_guard lock(mutex_);
  WriteLog(line);
  if (options_.quiet) return;
  ClearLiveLines();
  std::fprintf(stdout, "%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
}

void Console::Log(std::string_view line) {
  const std::lock_guard lock(mutex_);
  WriteLog(line);
}

}  // namespace tallele

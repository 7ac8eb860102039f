#ifndef TALLELE_BASE_ERROR_H_
#define TALLELE_BASE_ERROR_H_

#include <string>
#include <utility>

namespace tallele {

// What went wrong, in the terms that decide the exit code (see `ExitCodeFor`).
enum class ErrorKind {
  kUsage,        // command line: unknown flag, bad value, impossible combination
  kConfig,       // configuration file: unknown key, wrong type, refused option
  kInput,        // a user's data file says something impossible or unexpected
  kUnsupported,  // a valid request or file that this program does not handle
  kIo,           // the operating system refused: open, read, write, sync, rename
  kNumeric,      // a computation that cannot give a number for the whole run
  kInterrupted,  // stopped by a signal or by the caller
  kInternal,     // a broken promise of our own
};

// One error with everything that a user needs to act on it.
//
// `what` is required; the other parts are left empty where they make no sense.
// The printed form is one line:
//   <where>: <what>; found <found>, expected <expected>. <advice>
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string what;
  std::string where;     // file, and line, column, byte offset or variant
  std::string found;     // what was there
  std::string expected;  // what should have been there
  std::string advice;    // what to do about it, a full sentence

  // The error as one line, without a trailing newline.
  std::string Message() const;

  // Copy of this error with `context` put in front of `where`.
  Error WithContext(const std::string& context) const;
};

// Exit codes: 1 runtime failure, 2 usage or configuration, 130 interrupted.
int ExitCodeFor(ErrorKind kind);

// Short constructors for the common kinds.
Error UsageError(std::string what, std::string advice = {});
Error ConfigError(std::string what, std::string where = {}, std::string advice = {});
Error InputError(std::string what, std::string where, std::string advice = {});
Error UnsupportedError(std::string what, std::string where, std::string advice = {});
Error NumericError(std::string what, std::string where = {}, std::string advice = {});
Error InternalError(std::string what);
Error InterruptedError();

// An operating system failure on `path`; the text of `errno_value` becomes `found`.
Error IoError(std::string what, std::string path, int errno_value);

}  // namespace tallele

#endif  // TALLELE_BASE_ERROR_H_

#include "base/error.h"

#include <system_error>

namespace tallele {
namespace {

Error MakeError(ErrorKind kind, std::string what, std::string where, std::string advice) {
  Error error;
  error.kind = kind;
  error.what = std::move(what);
  error.where = std::move(where);
  error.advice = std::move(advice);
  return error;
}

// A message is one line: a line break inside user data must not forge a second one.
std::string OnOneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

std::string Error::Message() const {
  std::string message;
  if (!where.empty()) message += where + ": ";
  message += what;
  if (!found.empty()) message += "; found " + found;
  if (!expected.empty()) message += (found.empty() ? "; expected " : ", expected ") + expected;
  if (!advice.empty()) message += ". " + advice;
  return OnOneLine(std::move(message));
}

Error Error::WithContext(const std::string& context) const {
  Error copy = *this;
  copy.where = where.empty() ? context : context + ": " + where;
  return copy;
}

int ExitCodeFor(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kConfig:
      return 2;
    case ErrorKind::kInterrupted:
      return 130;
    case ErrorKind::kInput:
    case ErrorKind::kUnsupported:
    case ErrorKind::kIo:
    case ErrorKind::kNumeric:
    case ErrorKind::kInternal:
      return 1;
  }
  return 1;
}

Error UsageError(std::string what, std::string advice) {
  return MakeError(ErrorKind::kUsage, std::move(what), {}, std::move(advice));
}

Error ConfigError(std::string what, std::string where, std::string advice) {
  return MakeError(ErrorKind::kConfig, std::move(what), std::move(where), std::move(advice));
}

Error InputError(std::string what, std::string where, std::string advice) {
  return MakeError(ErrorKind::kInput, std::move(what), std::move(where), std::move(advice));
}

Error UnsupportedError(std::string what, std::string where, std::string advice) {
  return MakeError(ErrorKind::kUnsupported, std::move(what), std::move(where), std::move(advice));
}

Error NumericError(std::string what, std::string where, std::string advice) {
  return MakeError(ErrorKind::kNumeric, std::move(what), std::move(where), std::move(advice));
}

Error InterruptedError() {
  Error error;
  error.kind = ErrorKind::kInterrupted;
  error.what = "interrupted";
  return error;
}

Error InternalError(std::string what) {
  return MakeError(ErrorKind::kInternal, std::move(what), {},
                   "This is a defect of tallele; please report it with this line.");
}

Error IoError(std::string what, std::string path, int errno_value) {
  Error error = MakeError(ErrorKind::kIo, std::move(what), std::move(path), {});
  error.found = std::generic_category().message(errno_value);
  return error;
}

}  // namespace tallele

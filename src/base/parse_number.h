#ifndef TALLELE_BASE_PARSE_NUMBER_H_
#define TALLELE_BASE_PARSE_NUMBER_H_

#include <cstdint>
#include <string_view>

namespace tallele {

enum class NumberOutcome {
  kOk,
  kEmpty,       // no character at all
  kJunk,        // not a number, or something after it ("1.5x", "1 2", "0x10")
  kInfinite,    // "inf", "infinity", any case, signed or not
  kNan,         // "nan", any case, signed or not, with or without "(...)"
  kOutOfRange,  // a number that is too large for the type
};

template <typename T>
struct ParsedNumber {
  NumberOutcome outcome = NumberOutcome::kEmpty;
  T value = 0;  // only meaningful with kOk

  bool ok() const { return outcome == NumberOutcome::kOk; }
};

// The whole token as a number, correctly rounded, whatever the locale. One leading '+' is allowed,
// blanks are not. A number too small for a double is kOk with the nearest double (maybe zero).
ParsedNumber<double> ParseDouble(std::string_view token);

// The whole token as a decimal integer: "12", "-3", "+4". "1.0" and "1e3" are junk.
ParsedNumber<std::int64_t> ParseInt64(std::string_view token);

// "empty", "not a number", "infinite", "NaN", "out of range": for messages. "" for kOk.
std::string_view NumberOutcomeText(NumberOutcome outcome);

}  // namespace tallele

#endif  // TALLELE_BASE_PARSE_NUMBER_H_

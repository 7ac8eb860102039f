#include "base/parse_number.h"

#include <charconv>
#include <cmath>

namespace tallele {

const char* NumberOutcomeText(NumberOutcome outcome) {
  switch (outcome) {
    case NumberOutcome::kOk:
      return "a number";
    case NumberOutcome::kEmpty:
      return "an empty cell";
    case NumberOutcome::kNotANumber:
      return "not a number";
    case NumberOutcome::kTrailingJunk:
      return "a number followed by other characters";
    case NumberOutcome::kNotFinite:
      return "not a finite number";
    case NumberOutcome::kOutOfRange:
      return "a number outside the range of double";
  }
  return "not a number";
}

NumberOutcome ParseDouble(std::string_view token, double* value) {
  if (token.empty()) return NumberOutcome::kEmpty;
  if (token.front() == '+' && token.size() > 1 && token[1] != '-') token.remove_prefix(1);
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, *value);
  if (error == std::errc::invalid_argument) return NumberOutcome::kNotANumber;
  if (stop != end) return NumberOutcome::kTrailingJunk;
  if (error == std::errc::result_out_of_range) return NumberOutcome::kOutOfRange;
  return std::isfinite(*value) ? NumberOutcome::kOk : NumberOutcome::kNotFinite;
}

std::optional<int64_t> ParseInteger(std::string_view token) {
  int64_t value = 0;
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace tallele

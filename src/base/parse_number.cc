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

namespace {

// Reads [-]digits[.digits] of at most 15 digits, which is how most tables write: both the digits
// and the power of ten are exact doubles, so that their quotient is the correctly rounded value
// (W. D. Clinger, How to read floating point numbers accurately, 1990). False for anything else.
bool ParsePlainDecimal(std::string_view token, double* value) {
  constexpr size_t kExactDigits = 15;
  static constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = token.starts_with('-');
  if (negative) token.remove_prefix(1);
  if (token.empty() || token.size() > kExactDigits + 1) return false;
  int64_t digits = 0;
  size_t num_digits = 0, num_decimals = 0;
  bool after_point = false;
  for (const char c : token) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (c < '0' || c > '9') return false;
    digits = digits * 10 + (c - '0');
    ++num_digits;
    num_decimals += after_point;
  }
  if (num_digits == 0 || num_digits > kExactDigits) return false;
  const double size = static_cast<double>(digits) / kPowersOfTen[num_decimals];
  *value = negative ? -size : size;
  return true;
}

}  // namespace

NumberOutcome ParseDouble(std::string_view token, double* value) {
  if (ParsePlainDecimal(token, value)) return NumberOutcome::kOk;
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

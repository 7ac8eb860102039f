#include "base/format_number.h"

#include <charconv>
#include <cstddef>

namespace tallele {

void AppendSixDigits(double value, std::string& out) {
  char text[32];
  // std::chars_format::general with a precision is defined as printf's %.6g in the C locale.
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  out.append(text, end);
}

std::string FormatSixDigits(double value) {
  std::string out;
  AppendSixDigits(value, out);
  return out;
}

void AppendInteger(int64_t value, std::string& out) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string FormatExactly(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string FormatThousands(int64_t value) {
  std::string digits;
  AppendInteger(value, digits);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;)
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(at -= 3), ',');
  return digits;
}

}  // namespace tallele

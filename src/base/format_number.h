#ifndef TALLELE_BASE_FORMAT_NUMBER_H_
#define TALLELE_BASE_FORMAT_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace tallele {

// Room that one number may need.
inline constexpr std::size_t kMaxSixDigitsLength = 16;

// `value` as a default-configured `std::ostream` in the C locale writes it (`%g`: six significant
// digits, no trailing zeros, exponent of two digits or more). Writes no terminator.
// `out` has room for kMaxSixDigitsLength bytes; returns the end of what was written.
char* WriteSixDigits(double value, char* out);

// The same, appended to `out`.
void AppendSixDigits(double value, std::string* out);
std::string FormatSixDigits(double value);

// Decimal integer, appended to `out`.
void AppendInteger(std::int64_t value, std::string* out);

// Shortest decimal text that reads back as the same double, appended to `out`.
void AppendShortest(double value, std::string* out);

}  // namespace tallele

#endif  // TALLELE_BASE_FORMAT_NUMBER_H_

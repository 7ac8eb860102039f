#ifndef TALLELE_BASE_FORMAT_NUMBER_H_
#define TALLELE_BASE_FORMAT_NUMBER_H_

#include <cstdint>
#include <string>

namespace tallele {

// Appends `value` as a default C++ stream prints it: %g with six significant digits.
// Independent of the locale.
void AppendSixDigits(double value, std::string& out);
std::string FormatSixDigits(double value);

void AppendInteger(int64_t value, std::string& out);

// The shortest text that reads back as the same double.
std::string FormatExactly(double value);

// "1,234,567".
std::string FormatThousands(int64_t value);

}  // namespace tallele

#endif  // TALLELE_BASE_FORMAT_NUMBER_H_

#ifndef TALLELE_BASE_PARSE_NUMBER_H_
#define TALLELE_BASE_PARSE_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace tallele {

enum class NumberOutcome { kOk, kEmpty, kNotANumber, kTrailingJunk, kNotFinite, kOutOfRange };

// Why a token is no number, in words for an error message.
const char* NumberOutcomeText(NumberOutcome outcome);

// Parses a whole token as a finite double; a leading '+' is accepted. "nan" and "inf" in any
// spelling are kNotFinite. Independent of the locale.
NumberOutcome ParseDouble(std::string_view token, double* value);

// A whole token as a decimal integer.
std::optional<int64_t> ParseInteger(std::string_view token);

}  // namespace tallele

#endif  // TALLELE_BASE_PARSE_NUMBER_H_

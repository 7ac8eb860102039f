#include "config/option_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <unordered_set>

#include "config/column_names.h"
#include "config/nearest_name.h"

namespace tallele {
namespace {

template <typename Number>
bool ParseWhole(const std::string& text, Number& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  const auto [stop, code] = std::from_chars(begin, end, value);
  return code == std::errc() && stop == end && begin != end;
}

Error BadValue(const std::string& name, const std::string& text, std::string expected) {
  Error error = UsageError("bad value for " + name);
  error.found = "'" + text + "'";
  error.expected = std::move(expected);
  return error;
}

std::string RangeText(const OptionSpec& spec, const char* what) {
  if (std::isfinite(spec.minimum) && std::isfinite(spec.maximum)) {
    return fmt::format("{} from {} to {}", what, spec.minimum, spec.maximum);
  }
  if (std::isfinite(spec.minimum)) return fmt::format("{} of at least {}", what, spec.minimum);
  return what;
}

Result<OptionValue> ParseInteger(const OptionSpec& spec, const std::string& name,
                                 const std::string& text) {
  int value = 0;
  if (!ParseWhole(text, value) || value < spec.minimum || value > spec.maximum) {
    return BadValue(name, text, RangeText(spec, "a whole number"));
  }
  return OptionValue{{std::to_string(value)}};
}

Result<OptionValue> ParseNumber(const OptionSpec& spec, const std::string& name,
                                const std::string& text) {
  double value = 0;
  if (!ParseWhole(text, value) || !std::isfinite(value) || value < spec.minimum ||
      value > spec.maximum) {
    return BadValue(name, text, RangeText(spec, "a number"));
  }
  return OptionValue{{fmt::format("{}", value)}};
}

Result<OptionValue> ParseFlag(const std::string& name, const std::string& text) {
  if (text != "true" && text != "false") return BadValue(name, text, "true or false");
  return OptionValue{{text}};
}

Result<OptionValue> ParseChoice(const OptionSpec& spec, const std::string& name,
                                const std::string& text) {
  std::vector<std::string> names;
  for (const Choice& choice : spec.choices) {
    if (choice.value == text) {
      if (choice.refusal.empty()) return OptionValue{{text}};
      Error error = UsageError(name + " " + text + " is refused: " + choice.refusal);
      return error;
    }
    if (choice.refusal.empty()) names.push_back(choice.value);
  }
  Error error = BadValue(name, text, fmt::format("{}", fmt::join(names, ", ")));
  error.advice = DidYouMean(text, names);
  return error;
}

Result<OptionValue> ParseList(const OptionSpec& spec, const std::string& name,
                              const std::vector<std::string>& texts, bool split_commas) {
  OptionValue value;
  for (const std::string& text : texts) {
    std::vector<std::string> items{text};
    if (split_commas || spec.type == OptionType::kColumnList) {
      auto split = split_commas ? SplitCommaList(text) : Result<std::vector<std::string>>(items);
      if (!split) return split.error().WithContext(name);
      items = std::move(split).value();
    }
    for (const std::string& item : items) {
      if (item.empty()) {
        return UsageError(fmt::format("entry {} of {} is empty", value.items.size() + 1, name));
      }
      if (spec.type != OptionType::kColumnList) {
        value.items.push_back(item);
        continue;
      }
      auto expanded = ExpandColumnRanges(item);
      if (!expanded) return expanded.error().WithContext(name);
      value.items.insert(value.items.end(), expanded->begin(), expanded->end());
    }
  }
  if (spec.type != OptionType::kColumnList) return value;
  std::unordered_set<std::string> seen;
  for (const std::string& item : value.items) {
    if (!seen.insert(item).second) {
      return UsageError(name + " names '" + item + "' twice", "Name each column once.");
    }
  }
  return value;
}

}  // namespace

double OptionValue::Number() const {
  double value = 0;
  ParseWhole(items.front(), value);
  return value;
}

int OptionValue::Integer() const {
  int value = 0;
  ParseWhole(items.front(), value);
  return value;
}

bool IsList(OptionType type) {
  return type == OptionType::kPathList || type == OptionType::kTextList ||
         type == OptionType::kColumnList;
}

Result<OptionValue> ParseOptionValue(const OptionSpec& spec, const std::string& shown_name,
                                     const std::vector<std::string>& texts, bool split_commas) {
  if (IsList(spec.type)) return ParseList(spec, shown_name, texts, split_commas);
  for (const std::string& text : texts) {
    if (text != texts.front()) {
      return UsageError(fmt::format("{} is given twice with different values ('{}' and '{}')",
                                    shown_name, texts.front(), text),
                        "Keep one of them.");
    }
  }
  const std::string& text = texts.front();
  switch (spec.type) {
    case OptionType::kFlag:
      return ParseFlag(shown_name, text);
    case OptionType::kInteger:
      return ParseInteger(spec, shown_name, text);
    case OptionType::kNumber:
      return ParseNumber(spec, shown_name, text);
    case OptionType::kChoice:
      return ParseChoice(spec, shown_name, text);
    default:
      if (text.empty())
        return UsageError(shown_name + " is empty", "Give a value or leave it out.");
      return OptionValue{{text}};
  }
}

}  // namespace tallele

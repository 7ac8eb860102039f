#include "config/column_names.h"

#include <charconv>
#include <cstdint>

namespace tallele {
namespace {

constexpr uint64_t kMaxExpandedNames = 100'000;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool ParseCount(std::string_view text, uint64_t& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

Error BadRange(const std::string& name) {
  Error error = UsageError("bad range in column name '" + name + "'");
  error.expected = "braces as in PC{1:10}, first <= last";
  return error;
}

}  // namespace

Result<std::vector<std::string>> SplitCommaList(std::string_view text) {
  std::vector<std::string> items;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = Trim(text.substr(begin, end - begin));
    if (item.empty()) {
      return UsageError("entry " + std::to_string(items.size() + 1) + " of the list '" +
                        std::string(text) + "' is empty");
    }
    items.emplace_back(item);
    begin = end + 1;
  }
  return items;
}

Result<std::vector<std::string>> ExpandColumnRanges(const std::string& name) {
  const size_t open = name.find('{');
  const size_t close = name.find('}');
  if (open == std::string::npos && close == std::string::npos) {
    return std::vector<std::string>{name};
  }
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return BadRange(name);
  }
  const std::string_view inside = std::string_view(name).substr(open + 1, close - open - 1);
  const size_t colon = inside.find(':');
  uint64_t first = 0;
  uint64_t last = 0;
  if (colon == std::string_view::npos || !ParseCount(inside.substr(0, colon), first) ||
      !ParseCount(inside.substr(colon + 1), last) || first > last ||
      last - first >= kMaxExpandedNames) {
    return BadRange(name);
  }
  TALLELE_ASSIGN(const std::vector<std::string> tails, ExpandColumnRanges(name.substr(close + 1)));
  if ((last - first + 1) * tails.size() > kMaxExpandedNames) return BadRange(name);
  std::vector<std::string> names;
  for (uint64_t i = first; i <= last; ++i) {
    for (const std::string& tail : tails) {
      names.push_back(name.substr(0, open) + std::to_string(i) + tail);
    }
  }
  return names;
}

}  // namespace tallele

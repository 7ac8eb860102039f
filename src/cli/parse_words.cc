#include "cli/parse_words.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cli/commands.h"
#include "config/column_names.h"
#include "config/nearest_name.h"

namespace tallele {
namespace {

Error UnknownWord(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::string name = word.substr(0, word.find('='));
  std::string advice = DidYouMean(name, names);
  advice += fmt::format("{}See `{} --help`.", advice.empty() ? "" : " ", app.get_name());
  return UsageError(fmt::format("{} does not know {}", app.get_name(), name), std::move(advice));
}

}  // namespace

std::optional<int> ParseWords(CLI::App& app, std::span<const std::string> arguments) {
  app.allow_extras();
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitSuccess;
  } catch (const CLI::ParseError& failure) {
    return Fail(UsageError(failure.what(), fmt::format("See `{} --help`.", app.get_name())));
  }
  if (!app.remaining().empty()) return Fail(UnknownWord(app, app.remaining().front()));
  return std::nullopt;
}

Result<std::vector<int64_t>> ParseIntegerList(const std::string& text, const std::string& flag) {
  std::vector<int64_t> numbers;
  if (text.empty()) return numbers;
  TALLELE_ASSIGN(const std::vector<std::string> items, SplitCommaList(text));
  for (const std::string& item : items) {
    const auto number = ParseInteger(item);
    if (!number) return UsageError(flag + " holds '" + item + "', which is no whole number");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<double>> ParseNumberList(const std::string& text, const std::string& flag) {
  std::vector<double> numbers;
  if (text.empty()) return numbers;
  TALLELE_ASSIGN(const std::vector<std::string> items, SplitCommaList(text));
  for (const std::string& item : items) {
    const NumberOutcome outcome = ParseDouble(item, &numbers.emplace_back());
    if (outcome == NumberOutcome::kOk) continue;
    return UsageError(fmt::format("{} holds '{}': {}", flag, item, NumberOutcomeText(outcome)));
  }
  return numbers;
}

}  // namespace tallele

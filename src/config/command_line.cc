#include <CLI/CLI.hpp>

#include <algorithm>

#include "config/nearest_name.h"
#include "config/option_layer.h"
#include "config/option_table.h"
#include "config/refused_options.h"

namespace tallele {
namespace {

// One spelling of an option on the command line and what was given with it.
struct Spelling {
  const OptionSpec* spec;
  const FlagSpelling* flag;
  std::vector<std::string> texts;
  CLI::Option* option = nullptr;

  bool IsSwitch() const { return spec->type == OptionType::kFlag || !flag->value.empty(); }
};

std::vector<std::string> AllFlagNames() {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& spec : RegenieOptions()) {
    for (const FlagSpelling& spelling : spec.flags) names.push_back(spelling.name);
  }
  return names;
}

// Refuses what REGENIE knows and this program does not. Looks only at words that belong to no
// accepted option, so that a value such as -1 is not taken for an option.
Result<void> RefuseKnownOptions(std::span<const std::string> leftovers) {
  for (const std::string& leftover : leftovers) {
    if (!leftover.starts_with('-')) continue;
    const std::string name = leftover.substr(0, leftover.find('='));
    const std::string why = WhyFlagIsRefused(name);
    if (!why.empty()) return UsageError("the option " + name + " is refused", why + ".");
  }
  return {};
}

Error UnknownArgument(const std::string& argument) {
  if (!argument.starts_with('-')) {
    return UsageError("the word '" + argument + "' belongs to no option",
                      "Lists are separated by commas without blanks, or quoted.");
  }
  const std::string name = argument.substr(0, argument.find('='));
  return UsageError("unknown option " + name,
                    DidYouMean(name, AllFlagNames()) + " `tallele regenie --help` lists them all.");
}

std::vector<Spelling> MakeSpellings(CLI::App& app) {
  std::vector<Spelling> spellings;
  for (const OptionSpec& spec : RegenieOptions()) {
    for (const FlagSpelling& flag : spec.flags) spellings.push_back({&spec, &flag, {}, nullptr});
  }
  for (Spelling& s : spellings) {
    if (s.IsSwitch()) {
      s.option = app.add_flag(s.flag->name);
    } else {
      s.option = app.add_option(s.flag->name, s.texts)
                     ->expected(1)
                     ->allow_extra_args(false)
                     ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  return spellings;
}

// The texts that a spelling gives its option. `--gz=false` is a value like any other; a switch
// that stands for a value has no opposite to give.
Result<std::vector<std::string>> GivenTexts(const Spelling& s) {
  if (!s.IsSwitch()) return s.texts;
  std::vector<std::string> said = s.option->results();
  if (s.flag->value.empty()) return said;
  for (const std::string& text : said) {
    if (text != "true") {
      return UsageError("the option " + s.flag->name + " takes no value", "Leave it out instead.");
    }
  }
  return std::vector<std::string>{s.flag->value};
}

// Adds one spelling to the layer; list options collect from all of their spellings.
Result<void> AddToLayer(const Spelling& s, OptionLayer& layer) {
  if (s.option->count() == 0) return {};
  TALLELE_ASSIGN(const std::vector<std::string> texts, GivenTexts(s));
  TALLELE_ASSIGN(OptionValue value, ParseOptionValue(*s.spec, s.flag->name, texts, true));
  const auto [at, added] = layer.given.try_emplace(s.spec, GivenOption{value, s.flag->name});
  if (added) return {};
  GivenOption& earlier = at->second;
  if (IsList(s.spec->type)) {
    for (std::string& item : value.items) {
      if (std::find(earlier.value.items.begin(), earlier.value.items.end(), item) !=
          earlier.value.items.end()) {
        return UsageError(item + " is named by " + earlier.spelled + " and by " + s.flag->name,
                          "Name it once.");
      }
      earlier.value.items.push_back(std::move(item));
    }
    return {};
  }
  if (earlier.value.items == value.items) return {};
  return UsageError(
      "the options " + earlier.spelled + " and " + s.flag->name + " contradict each other",
      "Give one of them.");
}

}  // namespace

Result<OptionLayer> ParseCommandLine(std::span<const std::string> arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<Spelling> spellings = MakeSpellings(app);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& failure) {
    return UsageError(failure.what(), "See `tallele regenie --help`.");
  }
  TALLELE_TRY(RefuseKnownOptions(app.remaining()));
  if (!app.remaining().empty()) return UnknownArgument(app.remaining().front());
  OptionLayer layer;
  for (const Spelling& spelling : spellings) TALLELE_TRY(AddToLayer(spelling, layer));
  return layer;
}

}  // namespace tallele

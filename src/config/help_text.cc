#include "config/help_text.h"

#include <sstream>

#include "config/option_table.h"

namespace tallele {
namespace {

constexpr size_t kHelpColumn = 34;
constexpr size_t kLineWidth = 100;

std::string Spellings(const OptionSpec& spec) {
  std::string text;
  for (const FlagSpelling& flag : spec.flags) {
    text += (text.empty() ? "" : ", ") + flag.name;
    if (flag.value.empty() && !spec.placeholder.empty() && &flag == &spec.flags.front()) {
      text += " " + spec.placeholder;
    }
  }
  return text;
}

std::string Default(const OptionSpec& spec) {
  const bool plain_flag = spec.type == OptionType::kFlag;
  std::string text = plain_flag ? "" : spec.default_value;
  if (!spec.default_note.empty()) text += (text.empty() ? "" : "; ") + spec.default_note;
  return text;
}

// `text` broken at blanks, every line after the first indented to the help column.
void AppendWrapped(const std::string& text, std::string& out) {
  std::istringstream words(text);
  size_t column = kHelpColumn;
  for (std::string word; words >> word;) {
    if (column > kHelpColumn && column + 1 + word.size() > kLineWidth) {
      out += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    } else if (column > kHelpColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

}  // namespace

std::string RegenieHelp() {
  std::string out =
      "tallele regenie: single-variant association tests, REGENIE's step 2\n\n"
      "  tallele regenie --bgen FILE --phenoFile FILE --pred FILE --out PREFIX [options]\n"
      "  tallele regenie --config FILE [options]\n\n"
      "A command line of REGENIE 4.1.2 works as it is. Options win over the TOML file of "
      "--config.\n";
  std::string group;
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.flags.empty()) continue;
    if (spec.group != group) {
      group = spec.group;
      out += "\n" + group + "\n";
    }
    const std::string left = "  " + Spellings(spec);
    out += left;
    if (left.size() + 2 > kHelpColumn) {
      out += "\n" + std::string(kHelpColumn, ' ');
    } else {
      out += std::string(kHelpColumn - left.size(), ' ');
    }
    const std::string fallback = Default(spec);
    AppendWrapped(spec.help + (fallback.empty() ? "" : " [" + fallback + "]"), out);
  }
  return out;
}

std::string RegenieReferencePage() {
  std::string out =
      "# Options of `tallele regenie`\n\n"
      "Made from the option table by `tallele help --markdown`. Options marked * change results.\n";
  std::string group;
  const auto cell = [](std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.group != group) {
      group = spec.group;
      out +=
          "\n## " + group + "\n\n| flag | TOML | default | meaning |\n| --- | --- | --- | --- |\n";
    }
    const std::string key = spec.section.empty() ? "" : "`[" + spec.section + "] " + spec.key + "`";
    out += "| `" + cell(Spellings(spec)) + "`" + (spec.changes_results ? " *" : "") + " | " + key +
           " | " + cell(Default(spec)) + " | " + cell(spec.help) + " |\n";
  }
  return out;
}

}  // namespace tallele

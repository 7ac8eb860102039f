#include <toml++/toml.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/format_number.h"
#include "config/nearest_name.h"
#include "config/option_layer.h"
#include "config/option_table.h"
#include "config/refused_options.h"

namespace tallele {
namespace {

std::string Where(const std::string& path, const toml::source_region& region) {
  return path + ", line " + std::to_string(region.begin.line);
}

// The text of a scalar as ParseOptionValue takes it; nothing for a table, an array or a date.
std::optional<std::string> ScalarText(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* number = node.as_floating_point()) return FormatExactly(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

const char* ExpectedType(OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return "true or false";
    case OptionType::kInteger:
      return "an integer";
    case OptionType::kNumber:
      return "a number";
    case OptionType::kText:
    case OptionType::kChoice:
    case OptionType::kPath:
      return "a string";
    default:
      return "an array of strings";
  }
}

bool HasType(const toml::node& node, OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return node.is_boolean();
    case OptionType::kInteger:
      return node.is_integer();
    case OptionType::kNumber:
      return node.is_number();
    case OptionType::kText:
    case OptionType::kChoice:
    case OptionType::kPath:
      return node.is_string();
    default:
      break;
  }
  if (node.is_string()) return true;  // one item, or several with commas
  const auto* array = node.as_array();
  return array != nullptr && (array->empty() || array->is_homogeneous<std::string>());
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  Result<OptionLayer> Read(const toml::table& root) {
    for (const auto& [name, node] : root) {
      const std::string section(name.str());
      if (section == "metadata") continue;
      const auto* table = node.as_table();
      if (table == nullptr) {
        return Bad(node, "the key " + section + " stands outside every section",
                   "Put it under a section such as [input].");
      }
      if (!KnownSections().contains(section)) {
        const std::vector<std::string> names(KnownSections().begin(), KnownSections().end());
        return Bad(node, "unknown section [" + section + "]", DidYouMean(section, names));
      }
      for (const auto& [key, value] : *table) {
        TALLELE_TRY(Add(section, std::string(key.str()), value));
      }
    }
    return std::move(layer_);
  }

 private:
  static const std::set<std::string>& KnownSections() {
    static const std::set<std::string> sections = [] {
      std::set<std::string> names = {"metadata"};
      for (const OptionSpec& spec : RegenieOptions()) {
        if (!spec.section.empty()) names.insert(spec.section);
      }
      return names;
    }();
    return sections;
  }

  Error Bad(const toml::node& node, std::string what, std::string advice) const {
    return ConfigError(std::move(what), Where(path_, node.source()), std::move(advice));
  }

  Error UnknownKey(const toml::node& node, const std::string& section,
                   const std::string& key) const {
    if (const std::string why = WhyKeyIsRefused(key); !why.empty()) {
      return Bad(node, "the key " + section + "." + key + " is refused", why + ".");
    }
    std::vector<std::string> keys;
    for (const OptionSpec& spec : RegenieOptions()) {
      if (!spec.section.empty() && spec.key == key) {
        return Bad(node, "unknown key " + section + "." + key,
                   "It belongs to section [" + spec.section + "].");
      }
      if (spec.section == section) keys.push_back(spec.key);
    }
    return Bad(node, "unknown key " + section + "." + key, DidYouMean(key, keys));
  }

  // What a key that stands for a value of `spec` says: that value, or nothing (`bt = false`).
  Result<std::vector<std::string>> AliasTexts(const OptionSpec& spec, const std::string& key,
                                              const std::string& name,
                                              const toml::node& node) const {
    const std::optional<std::string> said = ScalarText(node);
    std::string accepted;
    for (const KeyAlias& alias : spec.aliases) {
      if (alias.key != key) continue;
      if (said == alias.from) return std::vector<std::string>{alias.value};
      accepted += (accepted.empty() ? "" : ", ") + alias.from;
    }
    if (node.is_boolean() && said == "false") return std::vector<std::string>{};
    Error error = Bad(node, "the value of " + name + " is not one that is known", "");
    error.found = said.value_or("a table, array or date");
    error.expected = accepted;
    return error;
  }

  Result<void> Add(const std::string& section, const std::string& key, const toml::node& node) {
    const OptionSpec* spec = FindKey(section, key);
    if (spec == nullptr) return UnknownKey(node, section, key);
    const std::string name = section + "." + key;
    std::vector<std::string> texts;
    bool split_commas = false;
    if (key != spec->key) {
      TALLELE_ASSIGN(texts, AliasTexts(*spec, key, name, node));
      if (texts.empty()) return {};
    } else if (!HasType(node, spec->type)) {
      Error error = Bad(node, "the key " + name + " has the wrong type", "");
      error.found = ScalarText(node).value_or("a table, array or date");
      error.expected = ExpectedType(spec->type);
      return error;
    } else if (const auto* array = node.as_array()) {
      for (const toml::node& item : *array) texts.push_back(item.as_string()->get());
      if (texts.empty()) return {};
    } else {
      texts = {*ScalarText(node)};
      split_commas = IsList(spec->type);
    }
    auto value = ParseOptionValue(*spec, name, texts, split_commas);
    if (!value.ok()) {
      Error error = value.error().WithContext(Where(path_, node.source()));
      error.kind = ErrorKind::kConfig;
      return error;
    }
    const auto [at, added] = layer_.given.try_emplace(spec, GivenOption{*value, name});
    if (added || at->second.value.items == value->items) return {};
    return Bad(node, "the keys " + at->second.spelled + " and " + name + " contradict each other",
               "Keep one of them.");
  }

  std::string path_;
  OptionLayer layer_;
};

}  // namespace

Result<OptionLayer> ReadTomlLayer(const std::string& path) {
  // toml++ reports a file that it cannot open as bad syntax in line 0.
  if (access(path.c_str(), R_OK) != 0) {
    return IoError("cannot read the configuration of --config", path, errno);
  }
  try {
    const toml::table root = toml::parse_file(path);
    return Reader(path).Read(root);
  } catch (const toml::parse_error& failure) {
    return ConfigError("the configuration is not valid TOML: " + std::string(failure.description()),
                       Where(path, failure.source()));
  } catch (const std::exception& failure) {
    return ConfigError("cannot read the configuration: " + std::string(failure.what()), path);
  }
}

}  // namespace tallele

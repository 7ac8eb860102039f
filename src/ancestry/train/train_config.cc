#include "ancestry/train/train_config.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "ancestry/model/text_inputs.h"

namespace tallele {
namespace {

constexpr int64_t kLargestCount = 1'000'000'000;
constexpr size_t kLargestWidth = 4096;

class ConfigReader {
 public:
  ConfigReader(const YAML::Node& root, const std::string& where) : root_(root), where_(where) {}

  Result<int64_t> Integer(const std::string& key, int64_t least, int64_t most) {
    TALLELE_ASSIGN(const YAML::Node node, Scalar(key));
    int64_t value = 0;
    if (!YAML::convert<int64_t>::decode(node, value) || value < least || value > most) {
      return Wrong(key, node, fmt::format("a whole number from {} to {}", least, most));
    }
    return value;
  }

  // A number of [least, below) or, without `below`, a finite one from `least` on.
  Result<double> Number(const std::string& key, double least, double below) {
    TALLELE_ASSIGN(const YAML::Node node, Scalar(key));
    double value = 0;
    if (!YAML::convert<double>::decode(node, value) || !std::isfinite(value) || value < least ||
        value >= below) {
      return Wrong(key, node, fmt::format("a number from {}, below {}", least, below));
    }
    return value;
  }

  Result<std::vector<size_t>> Widths(const std::string& key, size_t least_layers) {
    const std::string expected =
        fmt::format("a list of at least {} layer widths from 1 to {}, as [100, 100]", least_layers,
                    kLargestWidth);
    TALLELE_ASSIGN(const YAML::Node node, Find(key));
    if (!node.IsSequence() || node.size() < least_layers) return Wrong(key, node, expected);
    std::vector<size_t> widths;
    for (const YAML::Node& entry : node) {
      size_t width = 0;
      if (!entry.IsScalar() || !YAML::convert<size_t>::decode(entry, width) || width < 1 ||
          width > kLargestWidth) {
        return Wrong(key, entry, expected);
      }
      widths.push_back(width);
    }
    return widths;
  }

  bool Has(const std::string& key) const { return root_[key].IsDefined(); }

  Result<void> CheckKeys(EventSink& events) const {
    std::set<std::string> seen;
    for (const auto& entry : root_) {
      if (!entry.first.IsScalar()) return InputError("a key is no plain word", Place(entry.first));
      const std::string key = entry.first.Scalar();
      if (!seen.insert(key).second) {
        return InputError("key " + key + " is there twice", Place(entry.first));
      }
      if (!asked_.contains(key)) {
        events.Message(Severity::kWarning, fmt::format("{}: unknown key {} is left out of account",
                                                       Place(entry.first), key));
      }
    }
    return {};
  }

 private:
  Result<YAML::Node> Find(const std::string& key) {
    asked_.insert(key);
    const YAML::Node node = root_[key];
    if (node.IsDefined() && !node.IsNull()) return node;
    return InputError("the configuration lacks key " + key, where_,
                      "Give it as in `" + key + ": value`; the guide to training lists all keys.");
  }

  Result<YAML::Node> Scalar(const std::string& key) {
    TALLELE_ASSIGN(const YAML::Node node, Find(key));
    if (!node.IsScalar()) return Wrong(key, node, "one value");
    return node;
  }

  Error Wrong(const std::string& key, const YAML::Node& node, const std::string& expected) const {
    Error error = InputError("key " + key + " has a value that is not allowed", Place(node));
    error.found = node.IsScalar() ? node.Scalar() : node.IsSequence() ? "a list" : "a mapping";
    error.expected = expected;
    return error;
  }

  std::string Place(const YAML::Node& node) const {
    return fmt::format("{}, line {}", where_, node.Mark().line + 1);
  }

  const YAML::Node& root_;
  const std::string& where_;
  std::set<std::string> asked_;
};

Result<TrainConfig> ReadAll(const YAML::Node& root, const std::string& where, EventSink& events) {
  constexpr double kNoLimit = 1e6;
  ConfigReader reader(root, where);
  TrainConfig config;
  TALLELE_ASSIGN(config.batch_size, reader.Integer("batch_size", 2, kLargestCount));
  TALLELE_ASSIGN(config.epochs, reader.Integer("epochs", 1, kLargestCount));
  TALLELE_ASSIGN(config.patience, reader.Integer("patience", 1, kLargestCount));
  TALLELE_ASSIGN(config.input_dropout, reader.Number("input_dropout", 0, 1));
  TALLELE_ASSIGN(config.dropout_main, reader.Number("dropout_main", 0, 1));
  TALLELE_ASSIGN(config.lr_aux, reader.Number("lr_aux", 0, kNoLimit));
  TALLELE_ASSIGN(config.lr_main, reader.Number("lr_main", 0, kNoLimit));
  TALLELE_ASSIGN(config.learning_rate_annealing,
                 reader.Number("learning_rate_annealing", 0, kNoLimit));
  TALLELE_ASSIGN(config.nb_hidden_u_aux, reader.Widths("nb_hidden_u_aux", 1));
  TALLELE_ASSIGN(config.nb_hidden_u_main, reader.Widths("nb_hidden_u_main", 0));
  TALLELE_ASSIGN(config.uniform_init_limit, reader.Number("uniform_init_limit", 0, kNoLimit));
  if (reader.Has("seed")) {
    TALLELE_ASSIGN(config.seed, reader.Integer("seed", 0, INT64_MAX));
  }
  TALLELE_TRY(reader.CheckKeys(events));
  return config;
}

}  // namespace

Result<TrainConfig> ParseTrainConfig(const std::string& text, const std::string& where,
                                     EventSink& events) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      Error error = InputError("the configuration is no list of keys and values", where);
      error.expected = "YAML lines such as `batch_size: 138`";
      return error;
    }
    TALLELE_ASSIGN(TrainConfig config, ReadAll(root, where, events));
    config.text = text;
    return config;
  } catch (const YAML::Exception& exception) {
    return InputError("the configuration is not YAML: " + exception.msg,
                      fmt::format("{}, line {}", where, exception.mark.line + 1));
  }
}

Result<TrainConfig> ReadTrainConfig(const std::string& path, EventSink& events) {
  TALLELE_ASSIGN(const std::string text, ReadTextFile(path));
  return ParseTrainConfig(text, path, events);
}

}  // namespace tallele

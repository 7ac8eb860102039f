#ifndef TALLELE_ANCESTRY_TRAIN_TRAIN_CONFIG_H_
#define TALLELE_ANCESTRY_TRAIN_TRAIN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Settings of a training, with upstream's names (docs/guide/ancestry-training.md).
struct TrainConfig {
  int64_t batch_size = 0;
  int64_t epochs = 0;    // most epochs
  int64_t patience = 0;  // epochs without improvement before training stops
  double input_dropout = 0;
  double dropout_main = 0;
  double lr_aux = 0;
  double lr_main = 0;
  double learning_rate_annealing = 0;  // factor of both rates after each epoch
  std::vector<size_t> nb_hidden_u_aux;
  std::vector<size_t> nb_hidden_u_main;
  double uniform_init_limit = 0;
  std::optional<int64_t> seed;
  std::string text;  // as it was read
};

// Reads upstream's flat YAML: every key but `seed` is required; `1e-4` is a number. Unknown keys
// are warned about. Errors name the key, its line and what is allowed.
Result<TrainConfig> ReadTrainConfig(const std::string& path, EventSink& events);
Result<TrainConfig> ParseTrainConfig(const std::string& text, const std::string& where,
                                     EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAIN_CONFIG_H_

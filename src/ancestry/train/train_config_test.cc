#include "ancestry/train/train_config.h"

#include <gtest/gtest.h>

namespace tallele {
namespace {

constexpr char kConfig[] =
    "batch_size: 138\nepochs: 8000  # at most\npatience: 2000\ninput_dropout: 0.995\n"
    "dropout_main: 0.1\nlr_aux: 6e-4\nlr_main: 0.0003\nlearning_rate_annealing: 0.99\n"
    "nb_hidden_u_aux:\n  - 100\n  - 50\nnb_hidden_u_main: [100]\nuniform_init_limit: 0.02\n";

Error ErrorOf(const std::string& text) {
  NullEventSink events;
  const auto config = ParseTrainConfig(text, "c.yaml", events);
  EXPECT_FALSE(config.ok()) << text;
  return config.ok() ? Error{} : config.error();
}

TEST(TrainConfig, ReadsBlockAndFlowListsAndExponents) {
  NullEventSink events;
  const auto config = ParseTrainConfig(kConfig, "c.yaml", events);
  ASSERT_TRUE(config.ok()) << config.error().Message();
  EXPECT_EQ(config->batch_size, 138);
  EXPECT_EQ(config->lr_aux, 6e-4);
  EXPECT_EQ(config->nb_hidden_u_aux, (std::vector<size_t>{100, 50}));
  EXPECT_EQ(config->nb_hidden_u_main, std::vector<size_t>{100});
  EXPECT_FALSE(config->seed.has_value());
}

TEST(TrainConfig, ErrorsNameKeyAndLine) {
  const std::string text = kConfig;
  EXPECT_NE(ErrorOf(text.substr(text.find("epochs"))).what.find("batch_size"), std::string::npos);
  std::string wrong = text;
  wrong.replace(wrong.find("0.995"), 5, "1.5");
  const Error error = ErrorOf(wrong);
  EXPECT_NE(error.what.find("input_dropout"), std::string::npos);
  EXPECT_EQ(error.where, "c.yaml, line 4");
  EXPECT_EQ(error.found, "1.5");
  EXPECT_NE(ErrorOf(text + "seed: 1\nseed: 2\n").what.find("twice"), std::string::npos);
  ErrorOf("a: [1");
  ErrorOf("- 1\n");
}

}  // namespace
}  // namespace tallele

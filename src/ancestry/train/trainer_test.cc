#include "ancestry/train/trainer.h"

#include <fstream>
#include <sstream>

#include <tbb/task_arena.h>

#include "ancestry/train/training_fixture.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// A line of the fixtures' epochs.tsv; empty cells are NaN.
struct ReferenceEpoch {
  std::string name;
  std::vector<double> values;
};

std::vector<ReferenceEpoch> ReadReference(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<ReferenceEpoch> epochs;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    ReferenceEpoch& epoch = epochs.emplace_back();
    std::getline(cells, epoch.name, '\t');
    for (std::string cell; std::getline(cells, cell, '\t');) {
      epoch.values.push_back(cell.empty() ? std::nan("") : std::stod(cell));
    }
    epoch.values.resize(9, std::nan(""));
  }
  return epochs;
}

void ExpectPass(const std::optional<PassResult>& pass, double loss, double accuracy,
                const std::string& where) {
  ASSERT_EQ(pass.has_value(), !std::isnan(loss)) << where;
  if (!pass) return;
  EXPECT_NEAR(pass->loss, loss, 1e-5) << where;
  EXPECT_EQ(pass->accuracy, accuracy) << where;
}

void ExpectEpoch(const EpochRecord& record, const ReferenceEpoch& reference) {
  const std::vector<double>& r = reference.values;
  const std::string where = "epoch " + reference.name;
  EXPECT_EQ(std::to_string(record.epoch), reference.name);
  ExpectPass(record.train, r[0], r[1], where + " training");
  ExpectPass(record.train_evaluation, r[2], r[3], where + " training, evaluated");
  ExpectPass(record.valid, r[4], r[5], where + " validation");
  if (!std::isnan(r[6])) {
    EXPECT_EQ(record.lr_aux, r[6]) << where;
    EXPECT_EQ(record.lr_main, r[7]) << where;
  }
  EXPECT_EQ(record.saved_best, r[8] == 1) << where;
}

class UpstreamTraining : public testing::TestWithParam<const char*> {};

// Protects the whole of the faithful engine: initial weights, order of people, dropout draws,
// arithmetic, annealing and choice of the best model, against 12 epochs of PyTorch.
TEST_P(UpstreamTraining, RepeatsPyTorchsTrajectory) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "the shared fixtures are absent";
  const std::string tiny = shared->string() + "/dietnet/tiny", folder = tiny + "/" + GetParam();
  const auto reference = ReadReference(folder + "/epochs.tsv");
  ASSERT_EQ(reference.size(), 14u);
  Trainer trainer(LoadTinyFold(tiny), SettingsOf(folder + "/config.yaml", TrainEngine::kUpstream));
  const CancelToken cancel;
  const auto baseline = trainer.Begin(cancel);
  ASSERT_TRUE(baseline.ok());
  EXPECT_NEAR(baseline->valid.loss, reference[0].values[4], 1e-6);
  ExpectEpoch(*baseline, reference[0]);
  for (size_t e = 1; e <= 12; ++e) {
    ASSERT_FALSE(trainer.IsFinished());
    const auto record = trainer.RunEpoch(cancel);
    ASSERT_TRUE(record.ok()) << record.error().Message();
    ExpectEpoch(*record, reference[e]);
  }
  EXPECT_TRUE(trainer.IsFinished());
  const auto data = LoadTinyFold(tiny);
  const auto test = trainer.Evaluate(trainer.state().best.model, data->rows[2], cancel);
  ASSERT_TRUE(test.ok());
  EXPECT_EQ(reference[13].name, "test:" + std::to_string(trainer.state().best.epoch));
  EXPECT_NEAR(test->result.loss, reference[13].values[4], 1e-5);
  EXPECT_EQ(test->result.accuracy, reference[13].values[5]);
}

INSTANTIATE_TEST_SUITE_P(Dropout, UpstreamTraining,
                         testing::Values("train_nodropout", "train_dropout"));

}  // namespace
}  // namespace tallele

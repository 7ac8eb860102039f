#ifndef TALLELE_ANCESTRY_TRAIN_TRAINING_FIXTURE_H_
#define TALLELE_ANCESTRY_TRAIN_TRAINING_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ancestry/model/fold_arrays.h"
#include "ancestry/train/trainer.h"

namespace tallele {

// Fold 0 of a dataset with upstream's statistics and embedding, for tests.
inline std::shared_ptr<FoldData> LoadFold(const std::string& dataset_path,
                                          const std::string& partition, const std::string& stats,
                                          const std::string& embedding) {
  auto opened = TrainingDataset::Open(dataset_path);
  EXPECT_TRUE(opened.ok());
  const auto dataset = std::make_shared<const TrainingDataset>(std::move(*opened));
  auto people = std::make_shared<TrainingPeople>();
  NullEventSink events;
  const InputKind kind = InputKind::kRam;
  people->rows = *OpenRowSource(dataset, &kind, events, CancelToken());
  people->num_snps = dataset->num_snps();
  people->classes = dataset->labels();
  people->class_names = dataset->class_names();
  auto inputs = std::make_shared<FoldInputs>();
  inputs->snps.names = dataset->snp_names();
  inputs->class_names = dataset->class_names();
  EXPECT_TRUE(ReadFoldStatistics(stats, 0, true, *inputs).ok());
  EXPECT_TRUE(ReadFoldEmbedding(embedding, 0, *inputs).ok());
  auto data = std::make_shared<FoldData>();
  data->rows = (*ReadPartition(partition, dataset->samples()))[0];
  data->descriptions = *inputs->Descriptions();
  data->people = people;
  data->inputs = inputs;
  return data;
}

inline std::shared_ptr<FoldData> LoadTinyFold(const std::string& folder) {
  return LoadFold(folder + "/dataset.hdf5", folder + "/partition_seed_a.npz",
                  folder + "/input_stats.npz", folder + "/embedding.npz");
}

inline TrainSettings SettingsOf(const std::string& config, TrainEngine engine) {
  NullEventSink events;
  TrainSettings settings;
  settings.config = *ReadTrainConfig(config, events);
  settings.engine = engine;
  settings.seed = *settings.config.seed;
  settings.target = *ChooseCpuTarget();
  return settings;
}

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAINING_FIXTURE_H_

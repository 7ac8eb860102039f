#ifndef TALLELE_ANCESTRY_TRAIN_TRAIN_CHECKPOINT_H_
#define TALLELE_ANCESTRY_TRAIN_TRAIN_CHECKPOINT_H_

#include <string>

#include "ancestry/train/trainer.h"
#include "base/event_sink.h"
#include "base/file_env.h"

namespace tallele {

// What a model's folder keeps of its training (docs/formats/training.md).
struct TrainCheckpoint {
  std::string plan;    // SHA-256 of what the training depends on
  std::string epochs;  // text of epochs.tsv
  TrainState state;
};

// Publishes `<folder>/state.npz`; the one before stays as `state.previous.npz`.
Result<void> WriteTrainCheckpoint(const TrainCheckpoint& checkpoint, const std::string& folder,
                                  FileEnv& env = PosixFileEnv());

// Reads the newest whole checkpoint of a folder: the one before, with a warning, when the last one
// is missing or damaged.
Result<TrainCheckpoint> ReadTrainCheckpoint(const std::string& folder, const NetworkShape& shape,
                                            EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAIN_CHECKPOINT_H_

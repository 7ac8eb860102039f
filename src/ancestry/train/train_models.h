#ifndef TALLELE_ANCESTRY_TRAIN_TRAIN_MODELS_H_
#define TALLELE_ANCESTRY_TRAIN_TRAIN_MODELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/train/row_source.h"
#include "ancestry/train/trainer.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"

namespace tallele {

// What `tallele dietnet train` was asked for.
struct TrainRequest {
  std::string dataset;
  std::string partition;
  std::string config;
  std::string input_stats;  // empty: computed from the training people
  std::string embedding;    // empty: computed from the training people
  std::string bim;          // empty: `<dataset>.bim` if it is there
  std::string out;
  std::string events;               // file of JSON lines, appended to; empty: none
  std::string version = "unknown";  // of the program, for the events
  std::vector<int64_t> seeds;       // empty: the configuration's
  std::vector<int64_t> folds;       // empty: all
  TrainEngine engine = TrainEngine::kDietnet;
  std::optional<InputKind> inputs;
  bool regression = false;
  bool plain = false;  // the MLP baseline
  bool normalise = true;
  bool prefetch = true;
  bool save_pt = false;
  bool resume = false;
  double checkpoint_seconds = 10;  // at most so much is computed again after a crash
  int num_threads = 0;             // 0: all
  int num_jobs = 0;                // models at once; 0: as many as threads
  CpuTarget target = CpuTarget::kScalar;
};

// What became of one model.
struct ModelOutcome {
  int64_t seed = 0;
  int64_t fold = 0;
  std::optional<Error> error;
  bool was_finished = false;  // by an earlier run
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  PassResult valid;
  PassResult test;
  std::vector<int64_t> right;   // test people of each class that get it
  std::vector<int64_t> people;  // test people of each class
  std::string package;          // empty for plain networks and regressions
};

struct TrainSummary {
  std::vector<ModelOutcome> models;  // by fold, then seed
  std::vector<std::string> class_names;
  bool regression = false;
  std::string rows;  // where genotypes came from

  size_t NumFailed() const;
};

// Trains every (seed, fold). Each model has a folder `<out>/seed_<s>_fold_<f>` with its plan, its
// table of epochs and its state, locked while it trains; a package in `<out>` when it is finished;
// and upstream's result files. The same files for any number of threads and jobs, whatever else is
// trained beside it, and after any interruption and resume. A model that fails leaves the others
// alone; an interruption is an error after everyone's last whole epoch is on disk.
Result<TrainSummary> TrainModels(const TrainRequest& request, EventSink& events,
                                 const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAIN_MODELS_H_

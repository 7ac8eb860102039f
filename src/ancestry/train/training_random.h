#ifndef TALLELE_ANCESTRY_TRAIN_TRAINING_RANDOM_H_
#define TALLELE_ANCESTRY_TRAIN_TRAINING_RANDOM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ancestry/train/torch_random.h"

namespace tallele {

// Which random streams, and which bookkeeping, a training follows.
enum class TrainEngine {
  kUpstream,  // upstream's, draw by draw
  kDietnet,   // streams of their own for each seed, epoch and person
};

// The genotypes of a person that input dropout leaves: the kept ones, or all but the dropped ones.
struct InputSelection {
  bool lists_kept = false;
  std::vector<uint32_t> snps;  // ascending
};

// Lists the other half: the dropped ones for the kept ones.
void InvertSelection(size_t num_snps, InputSelection& selection);

// Every random choice of a training after the initial weights. Calls come in the order of the
// training: a pass, then for each of its batches the inputs of its people and the units of its
// layers.
class TrainingRandom {
 public:
  virtual ~TrainingRandom() = default;

  // True when SelectInputs depends on its arguments alone, so that any thread may call it in any
  // order.
  virtual bool IsKeyed() const = 0;
  // A pass in the people's own order begins.
  virtual void BeginPlainPass() = 0;
  // A pass in random order begins: the places of n people. `pass` tells passes of an epoch apart.
  virtual std::vector<uint32_t> BeginShuffledPass(int64_t epoch, int pass, size_t n) = 0;
  // Input dropout of one person, a row of the dataset; each genotype is dropped with the given
  // probability.
  virtual void SelectInputs(int64_t epoch, int64_t person, size_t num_snps, double dropout,
                            InputSelection& selection) = 0;
  // Dropout behind layer `layer`: keep[i * width + unit] of the i-th person.
  virtual void SelectUnits(int64_t epoch, std::span<const int64_t> people, size_t layer,
                           size_t width, double dropout, std::span<uint8_t> keep) = 0;

  // What a checkpoint has to hold, and back; false when the text is not from this engine.
  virtual std::string State() const = 0;
  virtual bool Restore(const std::string& state) = 0;
};

// `after_weights`: the generator that drew the initial weights; upstream goes on with it.
std::unique_ptr<TrainingRandom> MakeTrainingRandom(TrainEngine engine, uint64_t seed,
                                                   const TorchRandom& after_weights);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAINING_RANDOM_H_

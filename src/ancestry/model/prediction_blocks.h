#ifndef TALLELE_ANCESTRY_MODEL_PREDICTION_BLOCKS_H_
#define TALLELE_ANCESTRY_MODEL_PREDICTION_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// The scores of consecutive people: person-major, then model, then class or unit.
struct PredictionBlock {
  size_t first = 0;
  size_t num_people = 0;
  std::vector<double> probabilities;
  std::vector<float> logits;  // empty unless kept
  std::vector<float> hidden;  // likewise
};

// The finished blocks of a prediction run on disk: each file appears complete or not at all, and
// says which run it belongs to, so a killed run continues and a changed one starts over.
class PredictionBlocks {
 public:
  struct Shape {
    size_t num_people = 0;
    size_t people_per_block = 0;
    size_t scores_per_person = 0;  // models x classes
    size_t hidden_per_person = 0;  // 0 when not kept
    bool keep_logits = false;
  };

  // `run_identity`: changes with anything that changes a score.
  PredictionBlocks(std::string folder, std::string run_identity, const Shape& shape,
                   FileEnv& env = PosixFileEnv());

  size_t num_blocks() const;
  size_t FirstPerson(size_t block) const { return block * shape_.people_per_block; }
  size_t PeopleIn(size_t block) const;

  // Makes the folder.
  Result<void> Begin();
  // True when the block is there, whole, and of this run.
  bool Has(size_t block) const;
  Result<void> Write(size_t block, const PredictionBlock& content);
  Result<PredictionBlock> Read(size_t block) const;
  // Removes all blocks and the folder, once the outputs are in place.
  void Remove();

 private:
  std::string Path(size_t block) const;
  std::string Header(size_t block, uint64_t payload_hash) const;

  std::string folder_;
  std::string run_identity_;
  Shape shape_;
  FileEnv& env_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PREDICTION_BLOCKS_H_

#ifndef TALLELE_ANCESTRY_MODEL_PREDICTION_OUTPUTS_H_
#define TALLELE_ANCESTRY_MODEL_PREDICTION_OUTPUTS_H_

#include "ancestry/model/predict.h"
#include "ancestry/model/prediction_blocks.h"
#include "base/result.h"

namespace tallele {

// What the outputs of a run are made from.
struct PredictionOutputs {
  const std::vector<ModelPackage>& packages;
  const CohortRows& rows;
  const PredictRequest& request;
  const PredictionBlocks& blocks;
  double scale = 1;                        // shown in the table
  std::vector<size_t> hidden_widths = {};  // of each model
};

// Writes every file that the request asks for; fills counts and file names of `summary`.
Result<void> WritePredictionOutputs(const PredictionOutputs& outputs, PredictSummary& summary);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PREDICTION_OUTPUTS_H_

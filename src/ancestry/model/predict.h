#ifndef TALLELE_ANCESTRY_MODEL_PREDICT_H_
#define TALLELE_ANCESTRY_MODEL_PREDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/model/cohort_rows.h"
#include "ancestry/model/package.h"
#include "ancestry/model/prediction.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "kernels/cpu_target.h"

namespace tallele {

// What `tallele dietnet predict` was asked for. Empty paths are not written.
struct PredictRequest {
  std::string out;          // TSV (docs/formats/predictions.md)
  std::string parquet;      // the same table
  std::string save_logits;  // .npz: samples, models, logits (people, models, classes)
  std::string save_hidden;  // .npz: samples, models, hidden (people, all models' units)
  // Upstream's files: <prefix>_dietnet_predictions.txt and
  // <prefix>_DIETNET_RESULTS_BY_MODEL/<name>_model<f>_<r>_infered.npz.
  std::string upstream_prefix;
  bool per_model_columns = false;
  CallLimits limits;
  std::optional<double> scale;  // instead of model SNPs over matched SNPs
  bool faithful = false;        // keep SNPs that did not vary in training
  int64_t require_overlap = 0;  // fewer matched SNPs are an error
  int num_threads = 0;          // 0: all
  CpuTarget target = CpuTarget::kScalar;
  size_t people_per_block = 4096;
};

struct PredictSummary {
  size_t num_people = 0;
  size_t num_models = 0;
  size_t num_model_snps = 0;
  size_t num_matched_snps = 0;
  size_t num_left_out = 0;  // of the first model: did not vary in training
  double scale = 1;         // of the first model
  size_t num_unassigned = 0;
  size_t num_disagreeing = 0;  // people whose two labels differ
  size_t num_resumed_blocks = 0;
  std::vector<std::string> class_names;
  std::vector<size_t> class_counts;  // of assigned people
  std::vector<std::string> files;
  double elapsed_seconds = 0;
};

// Scores everyone with every model and writes the outputs. Blocks of people are committed to
// "<first output>.parts"; a killed run continues there, and the outputs appear only when complete.
// The same bytes for any number of threads, instruction set and interruption.
Result<PredictSummary> Predict(const std::vector<ModelPackage>& packages, const CohortRows& rows,
                               const PredictRequest& request, EventSink& sink,
                               const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PREDICT_H_

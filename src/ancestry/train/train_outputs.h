#ifndef TALLELE_ANCESTRY_TRAIN_TRAIN_OUTPUTS_H_
#define TALLELE_ANCESTRY_TRAIN_TRAIN_OUTPUTS_H_

#include <span>
#include <string>

#include "ancestry/train/trainer.h"

namespace tallele {

// Header and lines of epochs.tsv: numbers read back as the same doubles, what an engine or task
// does not compute is empty.
std::string EpochHeader();
std::string EpochLine(const EpochRecord& record);

// Name of upstream's results folder for these settings: "RESULTS_classification_auxu_100_...".
std::string ResultsFolderName(const Trainer& trainer, bool regression, int64_t fold);

// Upstream's `.npz` of an evaluation pass: samples (rows of the dataset), labels, preds, scores
// (softmax, rounded to float32; not in a regression) as doubles, class_label_names.
Result<void> WriteResults(const TrainingPeople& data, std::span<const int64_t> people,
                          const FloatTable& outputs, const std::string& path);

// Upstream's `.pt` of weights, those of plain networks included: a best model has `valid`, a last
// one the patience counter.
Result<void> WriteModelPt(const ModelState& model, int64_t epoch, const PassResult* valid,
                          const int64_t* patience, const std::string& path);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TRAIN_OUTPUTS_H_

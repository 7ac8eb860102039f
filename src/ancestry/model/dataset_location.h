#ifndef TALLELE_ANCESTRY_MODEL_DATASET_LOCATION_H_
#define TALLELE_ANCESTRY_MODEL_DATASET_LOCATION_H_

#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "ancestry/model/training_dataset.h"
#include "base/result.h"

namespace tallele {

// Packages know the identity of the dataset they were trained on (FoldInputs::dataset_identity). A
// small file beside them, docs/formats/package.md, tells where it lies, relative to their folder.
// It is no part of the packages: their bytes do not depend on where data are kept.
Result<void> WriteDatasetLocation(const std::string& folder, const std::string& dataset_identity,
                                  const std::string& dataset, FileEnv& env = PosixFileEnv());

// Opens the training dataset of all `packages`: the one at `given`, or without it the one whose
// location is known. Errors: the location is not known or nothing is there, the models are of
// different datasets, or, with `must_be_same`, the dataset is not the one of the training; each
// says which option to give. A dataset at a known location must be the one of the training anyhow.
Result<TrainingDataset> OpenDatasetOf(const std::vector<ModelPackage>& packages,
                                      const std::string& given, bool must_be_same);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_DATASET_LOCATION_H_

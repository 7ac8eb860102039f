#ifndef TALLELE_ANCESTRY_PACKED_DATASET_H_
#define TALLELE_ANCESTRY_PACKED_DATASET_H_

#include <string>

#include "ancestry/model/training_dataset.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "genotype/packed/packed_store.h"

namespace tallele {

// Size and time of change of a file, as the store keeps them.
std::string StateText(const FileIdentity& identity);

// An error unless `store` was packed from this dataset (see OpenGenotypeRows). With `every_row` all
// genotypes are compared.
Result<void> CheckPackedDataset(const PackedStore& store, const TrainingDataset& dataset,
                                bool every_row);

// Writes the packed copy of a dataset beside it, at PackedPathOf. Returns its path.
Result<std::string> PackDataset(const std::string& dataset_path, EventSink& events,
                                const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_PACKED_DATASET_H_

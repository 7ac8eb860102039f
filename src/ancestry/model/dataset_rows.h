#ifndef TALLELE_ANCESTRY_MODEL_DATASET_ROWS_H_
#define TALLELE_ANCESTRY_MODEL_DATASET_ROWS_H_

#include <memory>
#include <string>

#include "ancestry/model/cohort_rows.h"
#include "ancestry/model/package.h"
#include "base/result.h"

namespace tallele {

// The people of an HDF5 dataset, whose columns must be the model's SNPs: as many, in the same
// order, with the same names. Its values are taken as copies of the model's counted allele, since
// a dataset does not say which allele it counts.
Result<std::unique_ptr<CohortRows>> OpenDatasetRows(const std::string& path, const ModelSnps& snps);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_DATASET_ROWS_H_

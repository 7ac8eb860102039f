#ifndef TALLELE_ANCESTRY_CREATE_DATASET_H_
#define TALLELE_ANCESTRY_CREATE_DATASET_H_

#include <string>

#include "ancestry/call_columns.h"
#include "ancestry/label_table.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

struct CreateDatasetRequest {
  CallSourceRequest calls;     // PLINK or BGEN ...
  std::string text_genotypes;  // ... or upstream's table: people in lines, SNPs in columns
  LabelRequest labels;         // `by_family` follows `family_in_samples`
  std::string out;             // HDF5
  // Alleles of a text table: a .bim, or names like chr1:12345:A:G.
  std::string bim;
  std::string counted_allele;      // "first" or "last" of such names
  bool family_in_samples = false;  // sample names are FID_IID instead of IID
  StreamRowsOptions rows;
};

struct CreateDatasetSummary {
  size_t num_people = 0;
  size_t num_dropped = 0;
  size_t num_snps = 0;
  size_t num_classes = 0;
  int64_t num_missing_calls = 0;
  bool has_values = false;  // of a regression
  std::string dataset;
  std::string bim;  // empty when the alleles are not known
};

// Writes a training dataset (docs/formats/dataset.md) and, where alleles are known, its .bim.
// People stand in the order of the genotypes. Errors: people without labels or values, a person or
// a SNP twice, genotypes that are none; nothing is written then.
Result<CreateDatasetSummary> CreateDataset(const CreateDatasetRequest& request, EventSink& events,
                                           const CancelToken& cancel);

struct PackCallsSummary {
  size_t num_people = 0;
  size_t num_snps = 0;
};
// Writes a packed store straight from genotypes, people and SNPs in their order, values the copies
// of the first allele.
Result<PackCallsSummary> PackCalls(const CallSourceRequest& calls, const std::string& out,
                                   const StreamRowsOptions& options, EventSink& events,
                                   const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_CREATE_DATASET_H_

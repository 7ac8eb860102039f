#ifndef TALLELE_ANCESTRY_MODEL_IMPORT_MODEL_H_
#define TALLELE_ANCESTRY_MODEL_IMPORT_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/model/package.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Which of the two letters in a SNP name like `chr1:12345:A:G` is counted.
enum class CountedAllele { kUnknown, kFirst, kLast };

// Files of one model as upstream leaves them. Empty paths are absent.
struct ModelFiles {
  std::string checkpoint;  // .pt
  std::string embedding;   // .npz with `emb` or `embedding`: (k, F, E), (F, E)
  std::string stats;       // .npz with `means_by_fold`, `sd_by_fold` (k, F), or `mean`, `std` (F)
  std::string config;      // YAML, kept as text
  int64_t seed = 0;
  int64_t fold = 0;  // also the row of k-fold arrays, unless those have one row only
};

// What the models of an import share.
struct ImportContext {
  std::string snps;       // a SNP name a line; unused with `bim`, except to check it
  std::string bim;        // chromosome, name, position, counted and other allele
  std::string classes;    // a class name a line, in class order, or JSON {name: index}
  std::string partition;  // .npz, for the test rows
  std::vector<std::string> class_names;  // instead of `classes`
  std::vector<std::string> snp_names;    // instead of `snps`
  std::string dataset;                   // of the training; may be empty
  std::string dataset_identity;          // its NamesChecksum
  int64_t dataset_people = 0;
  CountedAllele counted = CountedAllele::kUnknown;
  bool normalised = true;
  std::string out;  // folder of packages
};

struct ImportSummary {
  std::vector<std::string> packages;
  size_t num_snps = 0;
  size_t num_classes = 0;
  size_t num_without_variation = 0;  // SNPs, in the last fold
  bool has_alleles = false;
  size_t num_test_rows = 0;
};

// Class order of the published models.
const std::vector<std::string>& PublishedClasses();

// Turns upstream's files into packages. Models that name the same embedding and statistics share
// one inputs file. Errors name the file and what does not fit.
Result<ImportSummary> ImportModels(const std::vector<ModelFiles>& models,
                                   const ImportContext& context, EventSink& sink,
                                   const CancelToken& cancel);

// The files of the released inference bundle: `DN_MODELS/weights_model<f>_<r>.pt` and its
// neighbours below `folder`; folds 0..4 and seeds 78, 79, 80. Fills what `context` leaves empty.
Result<std::vector<ModelFiles>> FindBundleModels(const std::string& folder, ImportContext& context);

// The packages of the Python wrapper below `folder`: every `metadata.json`.
Result<std::vector<ModelFiles>> FindWrapperModels(const std::string& folder,
                                                  ImportContext& context);

// Writes each package as upstream's and the wrapper's tools read it:
//   <out>/seed_<s>/fold_<f>/{model.pt, embedding.npz, input_stats.npz, snps.txt, allpos.bim,
//   label_mapping.json, metadata.json}
// Returns the folders.
Result<std::vector<std::string>> ExportPackages(const std::vector<ModelPackage>& packages,
                                                const std::string& out, EventSink& sink,
                                                const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_IMPORT_MODEL_H_

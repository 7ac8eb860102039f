#ifndef TALLELE_ANCESTRY_MODEL_PACKAGE_H_
#define TALLELE_ANCESTRY_MODEL_PACKAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ancestry/model/network.h"
#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// The SNPs of a model, in the order of its inputs.
struct ModelSnps {
  std::vector<std::string> names;
  // All four are empty when the model came without alleles; `match` then refuses it.
  std::vector<std::string> chromosomes;  // as in the .bim
  std::vector<int64_t> positions;
  std::vector<std::string> counted_alleles;  // the one whose copies are the input
  std::vector<std::string> other_alleles;

  size_t size() const { return names.size(); }
  bool has_alleles() const { return !counted_alleles.empty(); }
  // SHA-256 over names and alleles: equal for models that take the same input.
  std::string Identity() const;
};

// A SNP whose sd is smaller did not vary in training: above what upstream adds to every sd (1e-6),
// and far below the smallest sd of a SNP that varies (one copy among n people gives sqrt(1/n), 3e-4
// for ten million).
constexpr double kSmallestDeviation = 2e-6;

// What all models of one fold share. Folders hold it once per fold.
struct FoldInputs {
  ModelSnps snps;
  std::vector<std::string> class_names;  // index is the class
  std::vector<double> means;             // mu of each SNP over the training people
  std::vector<double> deviations;        // sd, with the 1e-6 that upstream adds
  // Genotype frequencies in each class, SNP-major, `embedding_width` values a SNP; of upstream
  // column 3c+g is genotype g in class c. Empty when it stays in `file` until it is needed: it is
  // by far the largest part.
  std::vector<double> embedding;
  std::string file;
  size_t embedding_width = 0;
  // Rows of the training dataset that are this fold's test set, and its number of people; empty
  // and 0 when unknown.
  std::vector<int64_t> test_rows;
  int64_t dataset_people = 0;
  std::string dataset_identity;  // NamesChecksum of the training dataset; empty when unknown

  size_t num_snps() const { return snps.size(); }
  // True when the SNP did not vary in training (sd is the added 1e-6, or no number): upstream's
  // division by it would swamp the network.
  bool IsDegenerate(size_t snp) const;
  // The description of each SNP that the auxiliary network gets: the embedding as float32, each
  // column divided by its Euclidean norm over all SNPs (summed in double, rounded once); a column
  // of zeros stays zero. SNP-major.
  Result<std::vector<float>> Descriptions() const;
  // The embedding, wherever it is.
  Result<std::vector<double>> LoadEmbedding() const;
};

// A trained model with everything that prediction needs (docs/formats/package.md).
struct ModelPackage {
  std::string path;  // of its file, for messages; not stored
  int64_t seed = 0;
  int64_t fold = 0;
  std::optional<int64_t> epoch;
  std::optional<double> mean_loss;      // of the validation set at `epoch`
  std::optional<double> mean_accuracy;  // per cent
  bool normalised = true;               // inputs are divided by sd
  std::string config;                   // text of upstream's YAML, may be empty
  Network network;
  std::shared_ptr<const FoldInputs> inputs;

  std::string Name() const;  // "seed_78_fold_0"
};

// Checks shapes against each other and values against NaN, with advice; `where` names the source.
Result<void> CheckInputs(const FoldInputs& inputs, const std::string& where);
Result<void> CheckEmbedding(const FoldInputs& inputs, const std::vector<double>& embedding,
                            const std::string& where);
Result<void> CheckPackage(const ModelPackage& package, const std::string& where);

// Writes `<folder>/fold_<f>-<identity>.inputs.npz`, unless it is there already, and then
// `<folder>/seed_<s>_fold_<f>.model.npz`, which names it. Returns the model file's path.
Result<std::string> WritePackage(const ModelPackage& package, const std::string& folder,
                                 FileEnv& env = PosixFileEnv());

// Reads every `*.model.npz` of a folder (or the one file that `path` names), sorted by fold, then
// seed; models of one fold share their inputs, whose embedding stays on disk. All must have the
// same SNPs and classes.
struct PackageFilter {
  std::vector<int64_t> seeds;  // empty: all
  std::vector<int64_t> folds;
};
Result<std::vector<ModelPackage>> ReadPackages(const std::string& path,
                                               const PackageFilter& filter = {});

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PACKAGE_H_

#include "ancestry/model/package.h"

#include <cmath>

#include <fmt/format.h>

#include "base/hashing.h"

namespace tallele {
namespace {

Error Broken(const std::string& where, std::string what, std::string found = {},
             std::string expected = {}, std::string advice = {}) {
  Error error = InputError(std::move(what), where, std::move(advice));
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

Result<void> CheckLength(size_t found, size_t expected, const char* of, const std::string& where) {
  if (found == expected) return {};
  return Broken(where, fmt::format("the {} do not fit the number of SNPs", of),
                fmt::format("{}", found), fmt::format("{}", expected));
}

// NaN is what a SNP without calls has: it counts 0. Anything else must be a statistic of genotypes.
Result<void> CheckStatistics(const FoldInputs& inputs, const std::string& where) {
  const auto refuse = [&](size_t snp, const char* of, double found, const char* expected) {
    return Broken(where,
                  fmt::format("the {} of SNP {} is none of genotypes", of, inputs.snps.names[snp]),
                  fmt::format("{}", found), expected,
                  "Make the statistics again with `tallele dietnet compute-input-stats`.");
  };
  for (size_t j = 0; j < inputs.num_snps(); ++j) {
    const double mean = inputs.means[j], sd = inputs.deviations[j];
    if (mean < 0 || mean > 2) return refuse(j, "mean", mean, "0 to 2");
    if (sd < 0 || std::isinf(sd)) {
      return refuse(j, "standard deviation", sd, "0 or more, and finite");
    }
  }
  return {};
}

}  // namespace

std::string ModelSnps::Identity() const {
  Sha256 sha;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string line = names[i];
    if (has_alleles()) {
      line += fmt::format("\t{}\t{}\t{}\t{}", chromosomes[i], positions[i], counted_alleles[i],
                          other_alleles[i]);
    }
    sha.Update(line += '\n');
  }
  return sha.HexDigest();
}

bool FoldInputs::IsDegenerate(size_t snp) const {
  return !(deviations[snp] >= kSmallestDeviation) || !std::isfinite(deviations[snp]) ||
         !std::isfinite(means[snp]);
}

Result<std::vector<float>> FoldInputs::Descriptions() const {
  const size_t width = embedding_width;
  std::vector<double> squares(width, 0);
  std::vector<float> descriptions;
  {
    TALLELE_ASSIGN(const std::vector<double> frequencies, LoadEmbedding());
    descriptions.assign(frequencies.begin(), frequencies.end());
  }
  for (size_t j = 0; j < num_snps(); ++j) {
    for (size_t e = 0; e < width; ++e) {
      const double x = descriptions[j * width + e];
      squares[e] += x * x;
    }
  }
  std::vector<float> norms;
  for (const double square : squares) norms.push_back(static_cast<float>(std::sqrt(square)));
  for (size_t j = 0; j < num_snps(); ++j) {
    for (size_t e = 0; e < width; ++e) {
      if (norms[e] > 0) descriptions[j * width + e] /= norms[e];
    }
  }
  return descriptions;
}

std::string ModelPackage::Name() const { return fmt::format("seed_{}_fold_{}", seed, fold); }

Result<void> CheckEmbedding(const FoldInputs& inputs, const std::vector<double>& embedding,
                            const std::string& where) {
  const size_t width = inputs.embedding_width;
  TALLELE_TRY(CheckLength(embedding.size(), inputs.num_snps() * width, "embedding values", where));
  for (size_t i = 0; i < embedding.size(); ++i) {
    if (std::isfinite(embedding[i])) continue;
    return Broken(where,
                  fmt::format("the embedding of SNP {} has no number in column {}",
                              inputs.snps.names[i / width], i % width),
                  "NaN or infinity", {},
                  "A class had no training samples in this fold; make the embedding again with a "
                  "partition that gives it some.");
  }
  return {};
}

Result<void> CheckInputs(const FoldInputs& inputs, const std::string& where) {
  const size_t snps = inputs.num_snps();
  if (snps == 0) return Broken(where, "the model has no SNPs");
  TALLELE_TRY(CheckLength(inputs.means.size(), snps, "means", where));
  TALLELE_TRY(CheckLength(inputs.deviations.size(), snps, "standard deviations", where));
  if (inputs.snps.has_alleles()) {
    TALLELE_TRY(CheckLength(inputs.snps.chromosomes.size(), snps, "chromosomes", where));
    TALLELE_TRY(CheckLength(inputs.snps.positions.size(), snps, "positions", where));
    TALLELE_TRY(CheckLength(inputs.snps.counted_alleles.size(), snps, "counted alleles", where));
    TALLELE_TRY(CheckLength(inputs.snps.other_alleles.size(), snps, "other alleles", where));
  }
  TALLELE_TRY(CheckStatistics(inputs, where));
  if (!inputs.embedding.empty()) {
    TALLELE_TRY(CheckEmbedding(inputs, inputs.embedding, where));
  }
  for (const int64_t row : inputs.test_rows) {
    if (row < 0 || (inputs.dataset_people > 0 && row >= inputs.dataset_people)) {
      return Broken(where, "a test row lies outside the dataset", fmt::format("{}", row),
                    fmt::format("0 to {}", inputs.dataset_people - 1));
    }
  }
  return {};
}

Result<void> CheckPackage(const ModelPackage& package, const std::string& where) {
  const FoldInputs& inputs = *package.inputs;
  TALLELE_TRY(CheckInputs(inputs, where));
  if (package.network.embedding_width() != inputs.embedding_width) {
    return Broken(where, "the network and the embedding are of different models",
                  fmt::format("{} embedding columns", inputs.embedding_width),
                  fmt::format("{}", package.network.embedding_width()));
  }
  if (package.network.num_classes() != inputs.class_names.size()) {
    return Broken(where, "the network has another number of classes than there are names",
                  fmt::format("{} names", inputs.class_names.size()),
                  fmt::format("{}", package.network.num_classes()));
  }
  return {};
}

}  // namespace tallele

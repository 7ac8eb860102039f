#ifndef TALLELE_ANCESTRY_TEXT_GENOTYPES_H_
#define TALLELE_ANCESTRY_TEXT_GENOTYPES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Header and first column of upstream's genotype table: tab separated, a header line with any first
// cell and then SNP names, a person a line, cells 0, 1, 2, or NA, ./. and -1 for missing.
struct TextGenotypeNames {
  std::vector<std::string> snps;
  std::vector<std::string> samples;
};

// Errors: an empty table, a name that stands twice.
Result<TextGenotypeNames> ReadTextGenotypeNames(const std::string& path);

// Hands each person's 2-bit row (kernels/packed_products.h) over in order. Errors name file, line
// and column.
using TextRowSink = std::function<Result<void>(size_t person, std::span<const uint8_t> row)>;
Result<void> ReadTextGenotypes(const std::string& path, const TextGenotypeNames& names,
                               EventSink& events, const CancelToken& cancel,
                               const TextRowSink& sink);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TEXT_GENOTYPES_H_

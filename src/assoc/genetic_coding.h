#ifndef TALLELE_ASSOC_GENETIC_CODING_H_
#define TALLELE_ASSOC_GENETIC_CODING_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "assoc/scan_request.h"
#include "genotype/variant_block.h"

namespace tallele {

// What is tested of a genotype. The additive code counts the first allele of the file, whatever
// the effect allele is; dominant and recessive codes are those of the effect allele.
struct Coding {
  GeneticModel model = GeneticModel::kAdditive;
  bool effect_is_second = false;
};

// A code is an integer 0 .. highest; the value that is tested is code / unit.
struct CodeScale {
  uint64_t unit = 1;
  uint64_t highest = 2;
};

// True when the stored pairs do not have t = 2*a0 + a1 as the code.
bool NeedsRecoding(const Coding& coding, const DecodedVariant& variant);

// The scale of `variant` under `coding`. Phased dominant and recessive codes are products of
// haplotype probabilities, exact up to 16 bits; deeper data are rounded to 2^-32.
CodeScale CodeScaleOf(const Coding& coding, const DecodedVariant& variant);

// Codes of everyone in the block ([block people]); 0 for a missing call.
void FillCodes(const VariantBlock& block, const DecodedVariant& variant, const Coding& coding,
               std::span<uint64_t> codes);

// Byte planes of pair rows that hold codes up to `highest`, and the promise on their bytes.
size_t PlanesOfCodes(uint64_t highest);
PairBound BoundOfCodes(uint64_t highest);

// Writes codes as pair rows with t = 2*b0 + b1, one plane each `stride` bytes, padding included.
void WriteCodeRows(std::span<const uint64_t> codes, size_t num_planes, size_t stride,
                   uint8_t* rows);

}  // namespace tallele

#endif  // TALLELE_ASSOC_GENETIC_CODING_H_

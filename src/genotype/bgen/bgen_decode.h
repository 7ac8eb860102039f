#ifndef TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "genotype/bgen/bgen_header.h"
#include "genotype/bgen/bgen_inflate.h"
#include "genotype/bgen/bgen_pairs.h"
#include "genotype/genotype_source.h"
#include "genotype/variant_block.h"

namespace tallele::bgen {

// Bytes of a layout 2 payload in front of its probabilities: counts, ploidies, phase and depth.
inline constexpr size_t Layout2Prefix(size_t num_samples) { return 10 + num_samples; }

// An error when a payload of `stored` bytes cannot inflate to `inflated` bytes, or when those
// cannot hold the genotypes of the header's number of samples.
Result<void> CheckInflatedSize(const Header& header, uint64_t stored, uint64_t inflated);

// Decodes the payloads of one file for one selection of people.
class Decoder {
 public:
  Decoder(const Header& header, SampleSelection selection, CarrierPolicy carriers,
          CpuTarget target);

  // Appends one variant to `block`, which was reset with Layout2Prefix as prefix. The error's
  // `where` is left to the caller.
  Result<void> Decode(std::span<const uint8_t> stored, uint32_t inflated_size, uint32_t num_alleles,
                      VariantBlock& block);

 private:
  uint8_t* PlaceFor(size_t inflated_size, VariantBlock& block);
  Result<void> DecodeLayout1(VariantBlock& block);
  Result<void> DecodeLayout2(VariantBlock& block);
  Result<StoredCalls> ReadShape() const;
  Result<PloidySummary> CheckPloidies(const StoredCalls& calls) const;
  Result<void> DecodePairsOfBytes(const StoredCalls& calls, bool has_gaps, VariantBlock& block);
  Result<void> DecodeCalls(const StoredCalls& calls, bool has_gaps, VariantBlock& block);
  void ListUnusual(const StoredCalls& calls);
  void SelectPairs();
  void StorePlanes(DecodedVariant& variant, VariantBlock& block);
  void KeepSparseOrDense(DecodedVariant variant, uint8_t* row, VariantBlock& block);
  void KeepState(VariantState state, VariantBlock& block);

  const Header& header_;
  SampleSelection selection_;
  CarrierPolicy carriers_;
  CpuTarget target_;
  Inflater inflater_;
  std::span<const uint8_t> payload_;  // inflated: in `buffer_` or in front of and in a row
  bool in_place_ = false;             // the latter
  std::vector<uint8_t> buffer_;
  std::vector<uint32_t> missing_, haploid_, carrier_people_;
  std::vector<uint16_t> carrier_pairs_;
  std::vector<StoredPair> pairs_;
  std::vector<uint32_t> block_position_;  // of every file sample; empty for everyone
};

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_

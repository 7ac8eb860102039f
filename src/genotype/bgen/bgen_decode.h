#ifndef TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "genotype/bgen/bgen_header.h"
#include "genotype/genotype_source.h"
#include "genotype/variant_block.h"

namespace tallele::bgen {

// Inflates one stored payload. Reused from variant to variant by one thread.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Exactly `out.size()` bytes from exactly `stored`; a reason when that is not what they hold.
  Result<void> Inflate(Compression compression, std::span<const uint8_t> stored,
                       std::span<uint8_t> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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
  struct Shape;  // what the first bytes of a layout 2 payload declare

  Result<void> DecodeLayout1(VariantBlock& block);
  Result<void> DecodeLayout2(VariantBlock& block);
  Result<Shape> ReadShape() const;
  Result<bool> DecodeInPlace(std::span<const uint8_t> stored, uint32_t inflated_size,
                             VariantBlock& block);
  Result<void> DecodePairsOfBytes(const Shape& shape, VariantBlock& block);
  Result<void> DecodeCalls(const Shape& shape, VariantBlock& block);
  Result<bool> HasHighPloidy(const Shape& shape) const;
  Result<void> StorePlanes(DecodedVariant& variant, VariantBlock& block);
  void KeepSparseOrDense(DecodedVariant variant, uint8_t* row, VariantBlock& block);

  const Header& header_;
  SampleSelection selection_;
  CarrierPolicy carriers_;
  CpuTarget target_;
  Inflater inflater_;
  std::vector<uint8_t> payload_;  // with 8 bytes of padding for wide loads
  size_t payload_size_ = 0;
  std::vector<uint32_t> missing_, haploid_, carrier_people_;
  std::vector<uint16_t> carrier_pairs_;
  std::vector<StoredPair> pairs_;
  std::vector<uint32_t> block_position_;  // of every file sample; empty for everyone
};

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_DECODE_H_

#ifndef TALLELE_GENOTYPE_WRITERS_BGEN_WRITER_H_
#define TALLELE_GENOTYPE_WRITERS_BGEN_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tallele {

enum class BgenCompression : uint8_t { kNone = 0, kZlib = 1, kZstd = 2 };

// What is common to every variant of a written BGEN file (layout 2).
struct BgenWriterFormat {
  uint32_t num_samples = 0;
  int bits = 8;  // 8 or 16
  BgenCompression compression = BgenCompression::kZlib;
  int level = 1;  // zlib 0..12 (libdeflate), zstd 0..19 (0: its own default)
};

// One variant to write. `probabilities` holds the stored numbers, two a person: unphased
// P(two first alleles), P(one); phased P(first allele) on each haplotype; both times 2^bits-1.
// A haploid person (`ploidy` 1) uses the first number of the two only. A missing person's
// numbers are written as zeros.
struct BgenVariantData {
  std::string_view chromosome;
  uint32_t position = 0;
  std::string_view id;  // variant identifier
  std::string_view rsid;
  std::string_view first_allele;
  std::string_view second_allele;
  bool phased = false;
  std::span<const uint16_t> probabilities;  // 2 * num_samples
  std::span<const uint32_t> missing;        // people, ascending
  std::span<const uint8_t> ploidy;          // 1 or 2 a person; empty: everyone has 2
};

// Encodes single variants. Keeps buffers and a compressor: one for each thread. What it
// returns depends on its arguments only.
class BgenVariantEncoder {
 public:
  explicit BgenVariantEncoder(const BgenWriterFormat& format);
  ~BgenVariantEncoder();
  BgenVariantEncoder(const BgenVariantEncoder&) = delete;
  BgenVariantEncoder& operator=(const BgenVariantEncoder&) = delete;

  // Appends the variant's identifying and genotype blocks to `out`.
  Result<void> Append(const BgenVariantData& variant, std::vector<uint8_t>& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes the file: header, optional sample identifiers, then encoded variants in order.
// Nothing stands under `path` before `Commit`.
class BgenWriter {
 public:
  // `sample_ids` is empty, or has one entry a person.
  static Result<std::unique_ptr<BgenWriter>> Create(const std::string& path,
                                                    const BgenWriterFormat& format,
                                                    uint32_t num_variants,
                                                    std::span<const std::string> sample_ids);
  ~BgenWriter();
  BgenWriter(const BgenWriter&) = delete;
  BgenWriter& operator=(const BgenWriter&) = delete;

  // Bytes that `BgenVariantEncoder` made of `num_variants` variants.
  Result<void> Append(std::span<const uint8_t> encoded, size_t num_variants);
  // Publishes the file; an error if the number of variants is not the promised one.
  Result<void> Commit();

 private:
  struct State;
  explicit BgenWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_WRITERS_BGEN_WRITER_H_

#ifndef TALLELE_GENOTYPE_PACKED_CALL_STRIPS_H_
#define TALLELE_GENOTYPE_PACKED_CALL_STRIPS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace tallele {

// What a column of packed rows takes from a variant of a .bed file.
enum class StripUse : uint8_t {
  kFirst,   // copies of the first allele
  kSecond,  // copies of the second allele
};

// Calls of one variant, four people a byte as PLINK 1 stores them, become our codes in place:
// 0, 1, 2 copies and 3 for missing.
void TranslateStrip(StripUse use, std::span<uint8_t> strip);

// People with each code among the first `num_people` of a translated strip.
struct CodeCounts {
  int64_t of[4] = {0, 0, 0, 0};
  int64_t observed() const { return of[0] + of[1] + of[2]; }
  double mean() const { return (of[1] + 2.0 * of[2]) / static_cast<double>(observed()); }
};
CodeCounts CountCodes(std::span<const uint8_t> strip, size_t num_people);

// Writes the translated strips of up to 256 variants (`strips`, `strip_bytes` apart) of
// `num_people` people as 64 bytes of each person's row: rows[p * stride .. + 64]. Variants beyond
// `num_variants` become missing calls.
void TransposeStrips(const uint8_t* strips, size_t strip_bytes, size_t num_variants,
                     size_t num_people, uint8_t* rows, size_t stride);

inline constexpr size_t kVariantsPerStripTile = 256;

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_PACKED_CALL_STRIPS_H_

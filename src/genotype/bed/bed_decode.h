#ifndef TALLELE_GENOTYPE_BED_BED_DECODE_H_
#define TALLELE_GENOTYPE_BED_BED_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tallele::bed {

// Two-bit codes of PLINK 1, four people a byte, lowest bits first.
inline constexpr uint8_t kHomFirst = 0;  // two copies of the first allele (.bim column 5)
inline constexpr uint8_t kMissing = 1;
inline constexpr uint8_t kHet = 2;
inline constexpr uint8_t kHomSecond = 3;  // none

inline constexpr size_t BytesPerVariant(size_t num_people) { return (num_people + 3) / 4; }

// Writes the pairs (b0, b1) of all people: (1,0), (0,1), (0,0) for two, one and no copies of
// the first allele, (0,0) for a missing call; then zeros up to PaddedPeople(num_people).
// The positions of people without a call are appended to `missing`. What the unused bits of
// the last byte hold does not matter.
void ExpandCodes(std::span<const uint8_t> codes, size_t num_people, uint8_t* row,
                 std::vector<uint32_t>& missing);

// The same for the listed people (file positions, ascending); `missing` gets positions in
// that list.
void ExpandSelectedCodes(std::span<const uint8_t> codes, std::span<const uint32_t> people,
                         uint8_t* row, std::vector<uint32_t>& missing);

}  // namespace tallele::bed

#endif  // TALLELE_GENOTYPE_BED_BED_DECODE_H_

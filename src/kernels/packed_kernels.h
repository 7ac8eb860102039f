#ifndef TALLELE_KERNELS_PACKED_KERNELS_H_
#define TALLELE_KERNELS_PACKED_KERNELS_H_

#include <cstddef>
#include <cstdint>

// Inside kernels/ only: what the files of one instruction set each implement for 2-bit rows.
namespace tallele::kernels {

// Panels: [chunk][digit 0..2][tile of 16 columns][group of 4 SNPs][16 lanes][4 bytes].
inline constexpr size_t kSnpsPerChunk = 1024;
inline constexpr size_t kPackedLanes = 16;
inline constexpr size_t kPackedDigits = 3;
inline constexpr size_t kPackedTileBytes = kSnpsPerChunk * kPackedLanes;
// Rows come in blocks of 16, the last one filled up with zeros.
inline constexpr size_t kRowsPerTile = 16;

// One chunk of a product. `values` are the decoded genotypes (missing = 0) in the form that the
// target's expander wrote; `sums` grow by the chunk's sums, [row tile][digit tile][16 rows][16
// lanes] in int32. |sum| <= 2 * 128 * 8,000,000 < 2^31, so they are never emptied.
struct PackedChunk {
  const uint8_t* values;
  size_t num_rows;  // a multiple of 16
  const int8_t* panel;
  size_t num_digit_tiles;
  size_t num_groups;  // of 4 SNPs, a multiple of 16
  int32_t* sums;
};

// Where the expanders put rows: 64 SNPs of 16 rows side by side, [row tile][64 SNPs][16 rows][64].
inline constexpr size_t ExpandedOffset(size_t row, size_t snp) {
  return (row / kRowsPerTile * (kSnpsPerChunk / 64) + snp / 64) * kRowsPerTile * 64 +
         row % kRowsPerTile * 64 + snp % 64;
}

// Decodes `num_snps` genotypes (a multiple of 64) of one row to bytes with 3 -> 0. Each piece of
// 64 bytes goes `kRowsPerTile * 64` bytes after the one before.
void ExpandPackedScalar(const uint8_t* packed, size_t num_snps, uint8_t* values);
void ExpandPackedAvx2(const uint8_t* packed, size_t num_snps, uint8_t* values);
void ExpandPackedAvx512(const uint8_t* packed, size_t num_snps, uint8_t* values);

void MultiplyPackedScalar(const PackedChunk& chunk);
void MultiplyPackedAvx2(const PackedChunk& chunk);
void MultiplyPackedAvxVnni(const PackedChunk& chunk);
void MultiplyPackedAvx512Vnni(const PackedChunk& chunk);
void MultiplyPackedAmx(const PackedChunk& chunk);

// The missing calls of a block of rows within one chunk, and the tiles of one group of columns:
// sums[tile][row][lane] += rint(mean * q). All rows go through one tile before
// the next one, whose three digits then stay in the fastest caches.
struct MissingCalls {
  const uint16_t* snps;        // within the chunk, row after row
  const uint32_t* row_starts;  // in `snps`; num_rows + 1 entries
  size_t num_rows;
  const int8_t* panel;
  size_t num_tiles;
  size_t first_tile, end_tile;  // of the group
  const float* means;           // of the group at the chunk's first SNP
  size_t mean_stride;           // in floats, from SNP to SNP
  int64_t* sums;                // [tile][row][16]
};
void AddMissingScalar(const MissingCalls& calls);
void AddMissingAvx2(const MissingCalls& calls);
void AddMissingAvx512(const MissingCalls& calls);

// 1.5 * 2^52: x + kRoundToInteger has the nearest whole number of x in its low bits (ties to even,
// |x| < 2^51), so the bits of such sums, added as integers, add up whole numbers.
inline constexpr double kRoundToInteger = 0x1.8p52;

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_PACKED_KERNELS_H_

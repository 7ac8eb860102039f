#ifndef TALLELE_KERNELS_PRODUCT_KERNELS_H_
#define TALLELE_KERNELS_PRODUCT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/pair_rows.h"

// Inside kernels/ only: what the files of one instruction set each implement.
namespace tallele::kernels {

// Panels hold digits of the quantised columns for chunks of people:
//   [chunk][tile of 16 digit columns][group of 2 people][16 lanes][4 bytes]
// The four bytes are two int16 digits (one per person) in 16-bit panels, and the signed bytes
// (digit of 2q, digit of q) of both people in byte panels, ready for (b0, b1).
inline constexpr size_t kPeoplePerChunk = 512;
inline constexpr size_t kDigitsPerTile = 16;
inline constexpr size_t kTileBytes = kPeoplePerChunk / 2 * 64;

// One chunk of a 16-bit product: `values` are t - 255 of up to 512 people per row (zero q makes
// the padding harmless), `sums[r * sums_stride + digit]` grows by the chunk's sums.
struct Int16Chunk {
  const int16_t* values;
  size_t value_stride;  // in int16
  size_t num_rows;
  const uint8_t* panel;  // of this chunk
  size_t num_tiles;
  size_t num_pairs;    // groups of two people
  size_t flush_pairs;  // int32 lanes are emptied after so many groups
  int64_t* sums;
  size_t sums_stride;
};

void MultiplyInt16Avx2(const Int16Chunk& chunk);
void MultiplyInt16AvxVnni(const Int16Chunk& chunk);
void MultiplyInt16Avx512Vnni(const Int16Chunk& chunk);

// values[p] = t - 255 for `num_people` people, a multiple of 32.
void CentreNumeratorsAvx2(const uint8_t* row, size_t num_people, int16_t* values);
void CentreNumeratorsAvx512(const uint8_t* row, size_t num_people, int16_t* values);

// A whole byte product with tiles. `sums` is [num_rows][num_tiles * 16], zeroed by the caller;
// `scratch` holds TileScratchBytes.
size_t TileScratchBytes(size_t num_rows, size_t num_tiles);
void MultiplyBytesAmx(const PairRows& rows, const uint8_t* panel, size_t num_tiles, int64_t* sums,
                      std::byte* scratch);

// Carrier sums: out[c] += (t - base) * q over the carriers, row-major q of `row_length` entries
// (a multiple of 8).
struct CarrierSum {
  const uint32_t* people;
  const uint16_t* pairs;
  size_t num_carriers;
  int32_t base;  // t of the baseline
  const int32_t* q;
  size_t row_length;
  int64_t* out;  // [row_length], zeroed by the caller
};
void SumCarriersScalar(const CarrierSum& sum);
void SumCarriersAvx2(const CarrierSum& sum);

PairMoments PairMomentsScalar(const uint8_t* row, size_t num_people);
PairMoments PairMomentsAvx2(const uint8_t* row, size_t num_people);
size_t CountCarriersAvx2(const uint8_t* row, size_t num_people, uint16_t baseline);
size_t ListCarriersAvx2(const uint8_t* row, size_t num_people, uint16_t baseline, uint32_t* people,
                        uint16_t* pairs);
bool NoTopBitsAvx2(const uint8_t* bytes, size_t num_bytes);

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_PRODUCT_KERNELS_H_

#ifndef TALLELE_KERNELS_PAIR_ROWS_H_
#define TALLELE_KERNELS_PAIR_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu_target.h"

namespace tallele {

// The form in which every kernel sees genotypes: "pair rows".
//
// A row holds two unsigned bytes (b0, b1) for each person, person after person. Its
// numerator is t = 2*b0 + b1. In an 8-bit BGEN row b0 and b1 are the stored
// probabilities of two and one copies of the first allele, so t/255 is the dosage of the
// first allele. Deeper data are split into byte planes, one row each: t = sum_k 256^k t_k.
// Rows are padded with (0,0) to a multiple of `kPeoplePerPad` people, start at 64-byte
// aligned addresses and follow each other at a constant stride (a multiple of 64).
inline constexpr size_t kPeoplePerPad = 32;

inline constexpr size_t PaddedPeople(size_t num_people) {
  return (num_people + kPeoplePerPad - 1) / kPeoplePerPad * kPeoplePerPad;
}

// A stride for rows of `num_people`: holds the padded row and is an odd number of cache
// lines, so that rows do not fall on the same cache sets.
inline constexpr size_t PairRowStride(size_t num_people) {
  const size_t lines = (PaddedPeople(num_people) * 2 + 63) / 64;
  return (lines % 2 == 0 ? lines + 1 : lines) * 64;
}

// What is known of b0 + b1 within each person, which bounds t.
enum class PairBound {
  kSumUpTo255,  // b0 + b1 <= 255, t <= 510: whole 8-bit values and every high plane
  kAnyBytes,    // no promise, t <= 765: the low planes of deeper data
};

// A block of pair rows.
struct PairRows {
  const uint8_t* data = nullptr;  // 64-byte aligned
  size_t stride = 0;              // bytes from row to row
  size_t num_rows = 0;
  size_t num_people = 0;  // without the padding
  PairBound bound = PairBound::kSumUpTo255;

  const uint8_t* row(size_t r) const { return data + r * stride; }
};

// Exact sums over one row (padding included, it adds nothing).
struct PairMoments {
  int64_t sum_b = 0;             // sum of b0 + b1
  int64_t sum_t = 0;             // sum of t = 2*b0 + b1
  int64_t sum_t2 = 0;            // sum of t*t
  bool sum_exceeds_255 = false;  // some person has b0 + b1 > 255
};

// Moments of one row of `num_people` people. No alignment needed; reads nothing past the
// padded row.
PairMoments ComputePairMoments(CpuTarget target, const uint8_t* row, size_t num_people);

// Number of people whose pair differs from `baseline` (b0 in the low byte).
size_t CountCarriers(CpuTarget target, const uint8_t* row, size_t num_people, uint16_t baseline);

// Lists the people whose pair differs from `baseline`, ascending, and their pairs.
// `people` and `pairs` must have room for PaddedPeople(num_people) + 32 entries.
// Padding never counts. Returns the number of carriers.
size_t ListCarriers(CpuTarget target, const uint8_t* row, size_t num_people, uint16_t baseline,
                    uint32_t* people, uint16_t* pairs);

// True when no byte has its top bit set: the missing flags of a BGEN ploidy list.
bool NoTopBits(CpuTarget target, const uint8_t* bytes, size_t num_bytes);

// Copies the pairs of `people` (ascending row positions) of every row into `out`, rows of
// `out_stride` bytes, padded with (0,0).
void GatherPairs(const PairRows& rows, std::span<const uint32_t> people, uint8_t* out,
                 size_t out_stride);

// out[p] = t of every person, 0..765.
void DecodeNumerators(const uint8_t* row, size_t num_people, uint16_t* out);

}  // namespace tallele

#endif  // TALLELE_KERNELS_PAIR_ROWS_H_

#ifndef TALLELE_KERNELS_WEIGHTED_SQUARES_AVX512_H_
#define TALLELE_KERNELS_WEIGHTED_SQUARES_AVX512_H_

#include <cstddef>
#include <cstdint>

namespace tallele::kernels {

// As SumSquaresAvx2, 32 people a step. `padded_people` is a multiple of 32; the pair row and the
// digits are aligned to 64 bytes.
void SumSquaresAvx512(const uint8_t* row, size_t padded_people, const int16_t* digits,
                      size_t stride, int64_t sums[3]);

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_WEIGHTED_SQUARES_AVX512_H_

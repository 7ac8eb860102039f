#ifndef TALLELE_KERNELS_WEIGHTED_SQUARES_AVX2_H_
#define TALLELE_KERNELS_WEIGHTED_SQUARES_AVX2_H_

#include <cstddef>
#include <cstdint>

namespace tallele::kernels {

// Sums of digit * ((t - 255)^2 - 2^15) over a padded pair row, one for each of three digit planes.
// `digits` are [3][stride], zero in the padding.
void SumSquaresAvx2(const uint8_t* row, size_t padded_people, const int16_t* digits, size_t stride,
                    int64_t sums[3]);

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_WEIGHTED_SQUARES_AVX2_H_

#include "kernels/weighted_squares_avx512.h"

#include "kernels/intrinsics.h"

namespace tallele::kernels {
namespace {

// |u^2 - 2^15| <= 2^15 and |digit| <= 2^9: a lane of vpdpwssd grows by at most 2^25 a step and
// holds 32 steps, 2^30, below 2^31.
constexpr size_t kStepsPerFlush = 32;
constexpr size_t kPeoplePerStep = 32;

typedef int Lanes __attribute__((vector_size(64)));

// In 64 bits: sixteen lanes of up to 2^30 do not fit 32.
int64_t SumLanes(__m512i acc) {
  const Lanes lanes = reinterpret_cast<Lanes>(acc);
  int64_t sum = 0;
  for (int l = 0; l < 16; ++l) sum += lanes[l];
  return sum;
}

__m512i Squares(const uint8_t* pairs) {
  const __m512i raw = _mm512_load_si512(pairs);
  const __m512i t = _mm512_maddubs_epi16(raw, _mm512_set1_epi16(0x0102));
  const __m512i u = _mm512_sub_epi16(t, _mm512_set1_epi16(255));
  // 65025 at most: taken as unsigned, then moved by -2^15.
  return _mm512_xor_si512(_mm512_mullo_epi16(u, u), _mm512_set1_epi16(-32768));
}

__m512i MultiplyAdd(__m512i acc, __m512i squares, const int16_t* digits) {
  return _mm512_dpwssd_epi32(acc, squares, _mm512_load_si512(digits));
}

}  // namespace

void SumSquaresAvx512(const uint8_t* row, size_t padded_people, const int16_t* digits,
                      size_t stride, int64_t sums[3]) {
  sums[0] = sums[1] = sums[2] = 0;
  for (size_t begin = 0; begin < padded_people;) {
    const size_t end = begin + kStepsPerFlush * kPeoplePerStep < padded_people
                           ? begin + kStepsPerFlush * kPeoplePerStep
                           : padded_people;
    __m512i d0 = _mm512_setzero_si512(), d1 = d0, d2 = d0;
    for (; begin < end; begin += kPeoplePerStep) {
      const __m512i squares = Squares(row + 2 * begin);
      d0 = MultiplyAdd(d0, squares, digits + begin);
      d1 = MultiplyAdd(d1, squares, digits + stride + begin);
      d2 = MultiplyAdd(d2, squares, digits + 2 * stride + begin);
    }
    sums[0] += SumLanes(d0);
    sums[1] += SumLanes(d1);
    sums[2] += SumLanes(d2);
  }
}

}  // namespace tallele::kernels

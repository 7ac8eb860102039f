#include "kernels/weighted_squares_avx2.h"

#include "kernels/intrinsics.h"

namespace tallele::kernels {
namespace {

// |u^2 - 2^15| <= 2^15 and |digit| <= 2^9: a lane of vpmaddwd grows by at most 2^25 a step and
// holds 32 steps below 2^31.
constexpr size_t kStepsPerFlush = 32;
constexpr size_t kPeoplePerStep = 16;

typedef int Acc __attribute__((vector_size(32)));

int64_t SumLanes(Acc acc) {
  int64_t sum = 0;
  for (int l = 0; l < 8; ++l) sum += acc[l];
  return sum;
}

__m256i Squares(const uint8_t* pairs) {
  const __m256i raw = _mm256_load_si256(reinterpret_cast<const __m256i*>(pairs));
  const __m256i t = _mm256_maddubs_epi16(raw, _mm256_set1_epi16(0x0102));
  const __m256i u = _mm256_sub_epi16(t, _mm256_set1_epi16(255));
  // 65025 at most: taken as unsigned, then moved by -2^15.
  return _mm256_xor_si256(_mm256_mullo_epi16(u, u), _mm256_set1_epi16(-32768));
}

Acc MultiplyAdd(Acc acc, __m256i squares, const int16_t* digits) {
  const __m256i d = _mm256_load_si256(reinterpret_cast<const __m256i*>(digits));
  return acc + reinterpret_cast<Acc>(_mm256_madd_epi16(squares, d));
}

}  // namespace

void SumSquaresAvx2(const uint8_t* row, size_t padded_people, const int16_t* digits, size_t stride,
                    int64_t sums[3]) {
  sums[0] = sums[1] = sums[2] = 0;
  for (size_t begin = 0; begin < padded_people;) {
    const size_t end = begin + kStepsPerFlush * kPeoplePerStep < padded_people
                           ? begin + kStepsPerFlush * kPeoplePerStep
                           : padded_people;
    Acc d0{}, d1{}, d2{};
    for (; begin < end; begin += kPeoplePerStep) {
      const __m256i squares = Squares(row + 2 * begin);
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

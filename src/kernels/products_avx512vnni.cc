#include "kernels/intrinsics.h"
#include "kernels/product_kernels.h"

namespace tallele::kernels {
namespace {

// One 512-bit vector is a whole tile; bounds as in products_avx2.cc.
struct Lanes {
  typedef int Acc __attribute__((vector_size(64)));
  using Digits = __m512i;
  static constexpr int kPerTile = 1;
  static constexpr int kRowsAtOnce = 12;

  static Acc Zero() { return Acc{}; }
  static Digits LoadDigits(const uint8_t* p) { return _mm512_load_si512(p); }
  static __m512i Broadcast(const int16_t* p) {
    int32_t both;
    __builtin_memcpy(&both, p, 4);
    return _mm512_set1_epi32(both);
  }
  static Acc MultiplyAdd(Acc acc, __m512i x, Digits digits) {
    return reinterpret_cast<Acc>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(acc), x, digits));
  }
  static void AddTo(int64_t* sums, Acc acc) {
    const __m512i a = reinterpret_cast<__m512i>(acc);
    const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(a));
    const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a, 1));
    _mm512_storeu_si512(sums, _mm512_add_epi64(_mm512_loadu_si512(sums), low));
    _mm512_storeu_si512(sums + 8, _mm512_add_epi64(_mm512_loadu_si512(sums + 8), high));
  }
};

#include "kernels/int16_product-inl.h"

}  // namespace

void MultiplyInt16Avx512Vnni(const Int16Chunk& chunk) { MultiplyChunk(chunk); }

void CentreNumeratorsAvx512(const uint8_t* row, size_t num_people, int16_t* values) {
  const __m512i weights = _mm512_set1_epi16(0x0102);
  const __m512i centre = _mm512_set1_epi16(255);
  for (size_t i = 0; i < num_people; i += 32) {
    const __m512i pairs = _mm512_loadu_si512(row + 2 * i);
    _mm512_storeu_si512(values + i, _mm512_sub_epi16(_mm512_maddubs_epi16(pairs, weights), centre));
  }
}

}  // namespace tallele::kernels

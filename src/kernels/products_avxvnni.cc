#include "kernels/intrinsics.h"
#include "kernels/product_kernels.h"

namespace tallele::kernels {
namespace {

// The lanes of products_avx2.cc with one instruction for multiply and add; the same bounds.
struct Lanes {
  typedef int Acc __attribute__((vector_size(32)));
  using Digits = __m256i;
  static constexpr int kPerTile = 2;
  static constexpr int kRowsAtOnce = 6;

  static Acc Zero() { return Acc{}; }
  static Digits LoadDigits(const uint8_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static __m256i Broadcast(const int16_t* p) {
    int32_t both;
    __builtin_memcpy(&both, p, 4);
    return _mm256_set1_epi32(both);
  }
  static Acc MultiplyAdd(Acc acc, __m256i x, Digits digits) {
    return reinterpret_cast<Acc>(
        _mm256_dpwssd_avx_epi32(reinterpret_cast<__m256i>(acc), x, digits));
  }
  static void AddTo(int64_t* sums, Acc acc) {
    int lanes[8];
    __builtin_memcpy(lanes, &acc, sizeof lanes);
    for (int i = 0; i < 8; ++i) sums[i] += lanes[i];
  }
};

#include "kernels/int16_product-inl.h"

}  // namespace

void MultiplyInt16AvxVnni(const Int16Chunk& chunk) { MultiplyChunk(chunk); }

}  // namespace tallele::kernels

#include "kernels/intrinsics.h"
#include "kernels/packed_kernels.h"

namespace tallele::kernels {
namespace {

// Unsigned genotypes times signed digits straight into 32-bit lanes.
struct Lanes {
  typedef int Acc __attribute__((vector_size(32)));
  using Digits = __m256i;
  static constexpr int kRowsAtOnce = 6;
  static constexpr int kTilesAtOnce = 1;
  static constexpr int kPerTile = 2;
  static constexpr size_t kPiecesPerFlush = kSnpsPerChunk / 64;

  static Acc Zero() { return Acc{}; }
  static Digits LoadDigits(const int8_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static __m256i Broadcast(const uint8_t* p) {
    int32_t four;
    __builtin_memcpy(&four, p, 4);
    return _mm256_set1_epi32(four);
  }
  static Acc MultiplyAdd(Acc acc, __m256i x, Digits digits) {
    return reinterpret_cast<Acc>(
        _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(acc), x, digits));
  }
  static void AddTo(int32_t* sums, Acc acc) {
    __m256i* p = reinterpret_cast<__m256i*>(sums);
    _mm256_storeu_si256(p, _mm256_add_epi32(_mm256_loadu_si256(p), reinterpret_cast<__m256i>(acc)));
  }
};

#include "kernels/packed_product-inl.h"

}  // namespace

void MultiplyPackedAvxVnni(const PackedChunk& chunk) { MultiplyPackedChunk(chunk); }

}  // namespace tallele::kernels

#include "kernels/intrinsics.h"
#include "kernels/packed_kernels.h"

namespace tallele::kernels {
namespace {

// |x * digit| summed over a group of 4 SNPs is at most 2 * (2 * 128) in each 16-bit lane, so 48
// groups stay at 24,576 < 2^15 before they are widened.
struct Lanes {
  typedef short Acc __attribute__((vector_size(32)));
  using Digits = __m256i;
  static constexpr int kRowsAtOnce = 6;
  static constexpr int kTilesAtOnce = 1;
  static constexpr int kPerTile = 2;
  static constexpr size_t kPiecesPerFlush = 3;

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
    return acc + reinterpret_cast<Acc>(_mm256_maddubs_epi16(x, digits));
  }
  static void AddTo(int32_t* sums, Acc acc) {
    __m256i* p = reinterpret_cast<__m256i*>(sums);
    const __m256i wide = _mm256_madd_epi16(reinterpret_cast<__m256i>(acc), _mm256_set1_epi16(1));
    _mm256_storeu_si256(p, _mm256_add_epi32(_mm256_loadu_si256(p), wide));
  }
};

#include "kernels/packed_product-inl.h"

// Lane l of a tile's 16 lanes: byte `snp` of its four, sign-extended. `shift` is 24 - 8 * snp.
inline __m256i Digit(const int8_t* line, __m128i shift) {
  const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
  return _mm256_srai_epi32(_mm256_sll_epi32(bytes, shift), 24);
}

typedef long long Int64s __attribute__((vector_size(32)));

// rint(mean * q) as integers.
inline Int64s RoundedBits(__m256d mean, __m256d q, __m256d round, __m256i round_bits) {
  const __m256i sum = _mm256_castpd_si256(_mm256_add_pd(_mm256_mul_pd(mean, q), round));
  return reinterpret_cast<Int64s>(_mm256_sub_epi64(sum, round_bits));
}

}  // namespace

void ExpandPackedAvx2(const uint8_t* packed, size_t num_snps, uint8_t* values) {
  const __m256i two_bits = _mm256_set1_epi32(0x03030303);
  const __m256i decode =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  for (size_t j = 0; j < num_snps; j += 32) {
    __m256i b =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(packed + j / 4)));
    b = _mm256_or_si256(b, _mm256_slli_epi32(b, 12));
    b = _mm256_or_si256(b, _mm256_slli_epi32(b, 6));
    b = _mm256_shuffle_epi8(decode, _mm256_and_si256(b, two_bits));
    uint8_t* to = values + j / 64 * kRowsPerTile * 64 + j % 64;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), b);
  }
}

void MultiplyPackedAvx2(const PackedChunk& chunk) { MultiplyPackedChunk(chunk); }

void AddMissingAvx2(const MissingCalls& m) {
  const size_t next_digit = m.num_tiles * kPackedTileBytes;
  const __m256d round = _mm256_set1_pd(kRoundToInteger);
  const __m256i round_bits = _mm256_castpd_si256(round);
  for (size_t tile = m.first_tile; tile < m.end_tile; ++tile) {
    const int8_t* panel = m.panel + tile * kPackedTileBytes;
    for (size_t row = 0; row < m.num_rows; ++row) {
      if (m.row_starts[row] == m.row_starts[row + 1]) continue;
      Int64s acc[4] = {};
      for (size_t i = m.row_starts[row]; i < m.row_starts[row + 1]; ++i) {
        const size_t snp = m.snps[i];
        const __m128i shift = _mm_cvtsi32_si128(24 - 8 * static_cast<int>(snp % 4));
        const int8_t* line = panel + snp / 4 * kPackedLanes * 4;
        const __m256d mean = _mm256_set1_pd(m.means[snp * m.mean_stride]);
        TALLELE_UNROLL
        for (int half = 0; half < 2; ++half) {
          const int8_t* part = line + 32 * half;
          const __m256i high =
              _mm256_add_epi32(_mm256_slli_epi32(Digit(part + 2 * next_digit, shift), 8),
                               Digit(part + next_digit, shift));
          const __m256i q = _mm256_add_epi32(_mm256_slli_epi32(high, 8), Digit(part, shift));
          const __m256d first = _mm256_cvtepi32_pd(_mm256_castsi256_si128(q));
          const __m256d second = _mm256_cvtepi32_pd(_mm256_extracti128_si256(q, 1));
          acc[2 * half] += RoundedBits(mean, first, round, round_bits);
          acc[2 * half + 1] += RoundedBits(mean, second, round, round_bits);
        }
      }
      int64_t* sums = m.sums + (tile * m.num_rows + row) * kPackedLanes;
      TALLELE_UNROLL
      for (int v = 0; v < 4; ++v) {
        __m256i* p = reinterpret_cast<__m256i*>(sums + 4 * v);
        _mm256_storeu_si256(
            p, _mm256_add_epi64(_mm256_loadu_si256(p), reinterpret_cast<__m256i>(acc[v])));
      }
    }
  }
}

}  // namespace tallele::kernels

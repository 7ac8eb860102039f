#include "kernels/intrinsics.h"
#include "kernels/packed_kernels.h"

namespace tallele::kernels {
namespace {

// One 512-bit vector is a tile; three tiles share each broadcast.
struct Lanes {
  typedef int Acc __attribute__((vector_size(64)));
  using Digits = __m512i;
  static constexpr int kRowsAtOnce = 8;
  static constexpr int kTilesAtOnce = 3;
  static constexpr int kPerTile = 1;
  static constexpr size_t kPiecesPerFlush = kSnpsPerChunk / 64;

  static Acc Zero() { return Acc{}; }
  static Digits LoadDigits(const int8_t* p) { return _mm512_load_si512(p); }
  static __m512i Broadcast(const uint8_t* p) {
    int32_t four;
    __builtin_memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
  }
  static Acc MultiplyAdd(Acc acc, __m512i x, Digits digits) {
    return reinterpret_cast<Acc>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(acc), x, digits));
  }
  static void AddTo(int32_t* sums, Acc acc) {
    _mm512_storeu_si512(sums,
                        _mm512_add_epi32(_mm512_loadu_si512(sums), reinterpret_cast<__m512i>(acc)));
  }
};

#include "kernels/packed_product-inl.h"

// Byte `snp` of each lane's four, sign-extended. `shift` is 24 - 8 * snp.
inline __m512i Digit(const int8_t* line, __m128i shift) {
  return _mm512_srai_epi32(_mm512_sll_epi32(_mm512_load_si512(line), shift), 24);
}

typedef long long Int64s __attribute__((vector_size(64)));

// rint(mean * q) as integers.
inline Int64s RoundedBits(__m512d mean, __m256i q, __m512d round, __m512i round_bits) {
  const __m512d product = _mm512_mul_pd(mean, _mm512_cvtepi32_pd(q));
  const __m512i sum = _mm512_castpd_si512(_mm512_add_pd(product, round));
  return reinterpret_cast<Int64s>(_mm512_sub_epi64(sum, round_bits));
}

}  // namespace

void ExpandPackedAvx512(const uint8_t* packed, size_t num_snps, uint8_t* values) {
  const __m512i two_bits = _mm512_set1_epi32(0x03030303), low_bits = _mm512_set1_epi32(0x01010101);
  for (size_t j = 0; j < num_snps; j += 64) {
    __m512i b =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + j / 4)));
    b = _mm512_or_si512(b, _mm512_slli_epi32(b, 12));
    b = _mm512_or_si512(b, _mm512_slli_epi32(b, 6));
    b = _mm512_and_si512(b, two_bits);
    // Both bits set: clear both.
    __m512i missing = _mm512_and_si512(_mm512_and_si512(b, _mm512_srli_epi32(b, 1)), low_bits);
    missing = _mm512_or_si512(missing, _mm512_slli_epi32(missing, 1));
    _mm512_storeu_si512(values + j / 64 * kRowsPerTile * 64, _mm512_xor_si512(b, missing));
  }
}

void MultiplyPackedAvx512Vnni(const PackedChunk& chunk) { MultiplyPackedChunk(chunk); }

void AddMissingAvx512(const MissingCalls& m) {
  const size_t next_digit = m.num_tiles * kPackedTileBytes;
  const __m512d round = _mm512_set1_pd(kRoundToInteger);
  const __m512i round_bits = _mm512_castpd_si512(round);
  for (size_t tile = m.first_tile; tile < m.end_tile; ++tile) {
    const int8_t* panel = m.panel + tile * kPackedTileBytes;
    for (size_t row = 0; row < m.num_rows; ++row) {
      if (m.row_starts[row] == m.row_starts[row + 1]) continue;
      Int64s first{}, second{};
      for (size_t i = m.row_starts[row]; i < m.row_starts[row + 1]; ++i) {
        const size_t snp = m.snps[i];
        const __m128i shift = _mm_cvtsi32_si128(24 - 8 * static_cast<int>(snp % 4));
        const int8_t* line = panel + snp / 4 * kPackedLanes * 4;
        const __m512d mean = _mm512_set1_pd(m.means[snp * m.mean_stride]);
        const __m512i high =
            _mm512_add_epi32(_mm512_slli_epi32(Digit(line + 2 * next_digit, shift), 8),
                             Digit(line + next_digit, shift));
        const __m512i q = _mm512_add_epi32(_mm512_slli_epi32(high, 8), Digit(line, shift));
        first += RoundedBits(mean, _mm512_castsi512_si256(q), round, round_bits);
        second += RoundedBits(mean, _mm512_extracti64x4_epi64(q, 1), round, round_bits);
      }
      int64_t* sums = m.sums + (tile * m.num_rows + row) * kPackedLanes;
      const __m512i low = _mm512_loadu_si512(sums), top = _mm512_loadu_si512(sums + 8);
      _mm512_storeu_si512(sums, _mm512_add_epi64(low, reinterpret_cast<__m512i>(first)));
      _mm512_storeu_si512(sums + 8, _mm512_add_epi64(top, reinterpret_cast<__m512i>(second)));
    }
  }
}

}  // namespace tallele::kernels

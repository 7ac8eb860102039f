#include "kernels/intrinsics.h"
#include "kernels/product_kernels.h"

namespace tallele::kernels {
namespace {

// |t - 255| <= 255 (510 for any bytes), |digit| <= 2^14: a lane of vpmaddwd grows by at most
// 255 * 2^14 * 2 per pair of people and holds 256 pairs (128 for any bytes) below 2^31.
struct Lanes {
  // Vectors with int elements stay in registers where arrays of __m256i go to the stack (g++ 12).
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
    return acc + reinterpret_cast<Acc>(_mm256_madd_epi16(x, digits));
  }
  static void AddTo(int64_t* sums, Acc acc) {
    const __m256i a = reinterpret_cast<__m256i>(acc);
    for (int half = 0; half < 2; ++half) {
      __m256i* p = reinterpret_cast<__m256i*>(sums + 4 * half);
      const __m128i part = half ? _mm256_extracti128_si256(a, 1) : _mm256_castsi256_si128(a);
      _mm256_storeu_si256(p, _mm256_add_epi64(_mm256_loadu_si256(p), _mm256_cvtepi32_epi64(part)));
    }
  }
};

#include "kernels/int16_product-inl.h"

int64_t SumLanes64(__m256i v) {
  int64_t lanes[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), v);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// The eight unsigned 32-bit lanes of `v` added to four 64-bit lanes.
__m256i Widen(__m256i sum, __m256i v) {
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  return _mm256_add_epi64(sum,
                          _mm256_add_epi64(_mm256_and_si256(v, low), _mm256_srli_epi64(v, 32)));
}

}  // namespace

void MultiplyInt16Avx2(const Int16Chunk& chunk) { MultiplyChunk(chunk); }

void CentreNumeratorsAvx2(const uint8_t* row, size_t num_people, int16_t* values) {
  const __m256i weights = _mm256_set1_epi16(0x0102);
  const __m256i centre = _mm256_set1_epi16(255);
  for (size_t i = 0; i < num_people; i += 16) {
    const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 2 * i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + i),
                        _mm256_sub_epi16(_mm256_maddubs_epi16(pairs, weights), centre));
  }
}

PairMoments PairMomentsAvx2(const uint8_t* row, size_t num_people) {
  // A 32-bit lane of the squares grows by at most 2 * 765^2 per vector and is emptied in time.
  constexpr size_t kVectorsPerFlush = 1800;  // 2 * 765^2 * 1800 < 2^31
  const __m256i twice = _mm256_set1_epi16(0x0102), once = _mm256_set1_epi8(1);
  const __m256i ones = _mm256_set1_epi16(1), zero = _mm256_setzero_si256();
  __m256i sum_b = zero, sum_t = zero, sum_t2 = zero, any = zero;
  const size_t num_vectors = num_people / 16;
  for (size_t v = 0; v < num_vectors;) {
    const size_t stop = v + kVectorsPerFlush < num_vectors ? v + kVectorsPerFlush : num_vectors;
    __m256i t32 = zero, t2_32 = zero;
    for (; v < stop; ++v) {
      const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 32 * v));
      const __m256i t = _mm256_maddubs_epi16(pairs, twice);
      any = _mm256_or_si256(any, _mm256_maddubs_epi16(pairs, once));
      sum_b = _mm256_add_epi64(sum_b, _mm256_sad_epu8(pairs, zero));
      t32 = _mm256_add_epi32(t32, _mm256_madd_epi16(t, ones));
      t2_32 = _mm256_add_epi32(t2_32, _mm256_madd_epi16(t, t));
    }
    sum_t = Widen(sum_t, t32);
    sum_t2 = Widen(sum_t2, t2_32);
  }
  PairMoments rest = PairMomentsScalar(row + 32 * num_vectors, num_people - 16 * num_vectors);
  rest.sum_b += SumLanes64(sum_b);
  rest.sum_t += SumLanes64(sum_t);
  rest.sum_t2 += SumLanes64(sum_t2);
  const __m256i none_high = _mm256_cmpeq_epi16(_mm256_srli_epi16(any, 8), zero);
  rest.sum_exceeds_255 |= _mm256_movemask_epi8(none_high) != -1;
  return rest;
}

size_t CountCarriersAvx2(const uint8_t* row, size_t num_people, uint16_t baseline) {
  const __m256i base = _mm256_set1_epi16(static_cast<int16_t>(baseline));
  const size_t num_vectors = num_people / 16;
  size_t same = 0;
  for (size_t v = 0; v < num_vectors;) {
    const size_t stop = v + 30000 < num_vectors ? v + 30000 : num_vectors;  // 16-bit lanes
    __m256i count = _mm256_setzero_si256();
    for (; v < stop; ++v) {
      const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 32 * v));
      count = _mm256_sub_epi16(count, _mm256_cmpeq_epi16(pairs, base));
    }
    uint16_t lanes[16];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), count);
    for (const uint16_t lane : lanes) same += lane;
  }
  for (size_t i = 16 * num_vectors; i < num_people; ++i) {
    same += static_cast<uint16_t>(row[2 * i] | row[2 * i + 1] << 8) == baseline;
  }
  return num_people - same;
}

size_t ListCarriersAvx2(const uint8_t* row, size_t num_people, uint16_t baseline, uint32_t* people,
                        uint16_t* pairs) {
  const __m256i base = _mm256_set1_epi16(static_cast<int16_t>(baseline));
  size_t count = 0;
  size_t i = 0;
  for (; i + 32 <= num_people; i += 32) {
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 2 * i));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 2 * i + 32));
    __m256i same =
        _mm256_packs_epi16(_mm256_cmpeq_epi16(first, base), _mm256_cmpeq_epi16(second, base));
    same = _mm256_permute4x64_epi64(same, 0xd8);  // packs works within 128-bit halves
    for (uint32_t left = ~static_cast<uint32_t>(_mm256_movemask_epi8(same)); left != 0;
         left &= left - 1) {
      const size_t person = i + static_cast<size_t>(__builtin_ctz(left));
      people[count] = static_cast<uint32_t>(person);
      __builtin_memcpy(&pairs[count++], row + 2 * person, 2);
    }
  }
  for (; i < num_people; ++i) {
    uint16_t pair;
    __builtin_memcpy(&pair, row + 2 * i, 2);
    if (pair == baseline) continue;
    people[count] = static_cast<uint32_t>(i);
    pairs[count++] = pair;
  }
  return count;
}

bool NoTopBitsAvx2(const uint8_t* bytes, size_t num_bytes) {
  __m256i any = _mm256_setzero_si256();
  size_t i = 0;
  for (; i + 32 <= num_bytes; i += 32) {
    any = _mm256_or_si256(any, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i)));
  }
  uint8_t rest = 0;
  for (; i < num_bytes; ++i) rest |= bytes[i];
  return _mm256_movemask_epi8(any) == 0 && rest < 0x80;
}

void SumCarriersAvx2(const CarrierSum& s) {
  constexpr size_t kAhead = 12;   // carriers whose q rows are fetched early
  constexpr size_t kVectors = 6;  // 24 columns at a time stay in registers
  for (size_t first = 0; first < s.row_length; first += 4 * kVectors) {
    const size_t vectors =
        s.row_length - first < 4 * kVectors ? (s.row_length - first) / 4 : kVectors;
    __m256i acc[kVectors];
    for (size_t v = 0; v < kVectors; ++v) acc[v] = _mm256_setzero_si256();
    for (size_t i = 0; i < s.num_carriers; ++i) {
      if (i + kAhead < s.num_carriers) {
        const int32_t* ahead = s.q + s.people[i + kAhead] * s.row_length + first;
        _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(ahead + 16), _MM_HINT_T0);
      }
      const int32_t t = 2 * (s.pairs[i] & 255) + (s.pairs[i] >> 8) - s.base;
      const __m256i x = _mm256_set1_epi64x(t);
      const int32_t* q = s.q + s.people[i] * s.row_length + first;
      TALLELE_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        if (v >= vectors) break;
        const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q + 4 * v));
        acc[v] = _mm256_add_epi64(acc[v], _mm256_mul_epi32(x, _mm256_cvtepi32_epi64(four)));
      }
    }
    for (size_t v = 0; v < vectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(s.out + first + 4 * v), acc[v]);
    }
  }
}

}  // namespace tallele::kernels

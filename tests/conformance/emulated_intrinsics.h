#ifndef TALLELE_TESTS_CONFORMANCE_EMULATED_INTRINSICS_H_
#define TALLELE_TESTS_CONFORMANCE_EMULATED_INTRINSICS_H_

// The intrinsics that the kernels use, in plain code: SIMDe for vectors, and the tile instructions
// of AMX from their definition in Intel's manual. Slow; for checking arithmetic and addressing
// only.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>

#include <cstdint>
#include <cstring>

namespace tallele::emulated {

inline thread_local int32_t g_tiles[8][16][16];

}  // namespace tallele::emulated

// SIMDe 0.7 lacks these.
inline __m512i _mm512_cvtepi32_epi64(__m256i a) {
  int32_t in[8];
  int64_t out[8];
  std::memcpy(in, &a, sizeof in);
  for (int i = 0; i < 8; ++i) out[i] = in[i];
  __m512i result;
  std::memcpy(&result, out, sizeof out);
  return result;
}

inline __m512i _mm512_cvtepu8_epi32(__m128i a) {
  uint8_t in[16];
  int32_t out[16];
  std::memcpy(in, &a, sizeof in);
  for (int i = 0; i < 16; ++i) out[i] = in[i];
  __m512i result;
  std::memcpy(&result, out, sizeof out);
  return result;
}

inline __m512i _mm512_srai_epi32(__m512i a, unsigned count) {
  int32_t x[16];
  std::memcpy(x, &a, sizeof x);
  for (int32_t& lane : x) lane >>= count;
  std::memcpy(&a, x, sizeof x);
  return a;
}

inline __m512d _mm512_cvtepi32_pd(__m256i a) {
  int32_t in[8];
  double out[8];
  std::memcpy(in, &a, sizeof in);
  for (int i = 0; i < 8; ++i) out[i] = in[i];
  __m512d result;
  std::memcpy(&result, out, sizeof out);
  return result;
}

// The VEX forms of instructions that SIMDe knows in their AVX-512 form.
inline __m256i _mm256_dpwssd_avx_epi32(__m256i sum, __m256i a, __m256i b) {
  return _mm256_dpwssd_epi32(sum, a, b);
}

inline __m256i _mm256_dpbusd_avx_epi32(__m256i sum, __m256i a, __m256i b) {
  return _mm256_dpbusd_epi32(sum, a, b);
}

inline void _tile_loadconfig(const void*) {}
inline void _tile_release() {}

inline void _tile_loadd(int tile, const void* base, long stride) {
  for (long row = 0; row < 16; ++row) {
    std::memcpy(tallele::emulated::g_tiles[tile][row],
                static_cast<const char*>(base) + row * stride, 64);
  }
}

inline void _tile_stored(int tile, void* base, long stride) {
  for (long row = 0; row < 16; ++row) {
    std::memcpy(static_cast<char*>(base) + row * stride, tallele::emulated::g_tiles[tile][row], 64);
  }
}

// Unsigned bytes of `a` times signed bytes of `b`, four at a time, added to int32.
inline void _tile_dpbusd(int c, int a, int b) {
  using tallele::emulated::g_tiles;
  for (int m = 0; m < 16; ++m) {
    const auto* left = reinterpret_cast<const uint8_t*>(g_tiles[a][m]);
    for (int k = 0; k < 16; ++k) {
      const auto* right = reinterpret_cast<const int8_t*>(g_tiles[b][k]);
      for (int n = 0; n < 16; ++n) {
        for (int i = 0; i < 4; ++i) g_tiles[c][m][n] += left[4 * k + i] * right[4 * n + i];
      }
    }
  }
}

#endif  // TALLELE_TESTS_CONFORMANCE_EMULATED_INTRINSICS_H_

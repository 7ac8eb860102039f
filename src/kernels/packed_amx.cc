#include "kernels/intrinsics.h"
#include "kernels/packed_kernels.h"

namespace tallele::kernels {
namespace {

#include "kernels/amx_tiles-inl.h"

constexpr size_t kTileInts = kRowsPerTile * kPackedLanes;

// Lines of a panel that are fetched into L2 ahead of use, a few per step.
struct Ahead {
  const char* next;
  const char* end;
  size_t lines_per_step;

  void Fetch() {
    for (size_t i = 0; i < lines_per_step && next < end; ++i, next += 64) {
      _mm_prefetch(next, _MM_HINT_T1);
    }
  }
};

// Two row tiles times one or two digit tiles.
template <bool kTwoDigitTiles>
void MultiplyTiles(const uint8_t* a, size_t row_tile_bytes, const int8_t* b, size_t steps,
                   int32_t* c, size_t row_tile_ints, Ahead& ahead) {
  const uint8_t* a1 = a + row_tile_bytes;
  const int8_t* b1 = b + kPackedTileBytes;
  _tile_loadd(0, c, 64);
  _tile_loadd(2, c + row_tile_ints, 64);
  if constexpr (kTwoDigitTiles) {
    _tile_loadd(1, c + kTileInts, 64);
    _tile_loadd(3, c + row_tile_ints + kTileInts, 64);
  }
  for (size_t k = 0; k < steps; ++k) {
    ahead.Fetch();
    _tile_loadd(4, a + 1024 * k, 64);
    _tile_loadd(6, b + 1024 * k, 64);
    _tile_loadd(5, a1 + 1024 * k, 64);
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(2, 5, 6);
    if constexpr (kTwoDigitTiles) {
      _tile_loadd(7, b1 + 1024 * k, 64);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, c, 64);
  _tile_stored(2, c + row_tile_ints, 64);
  if constexpr (kTwoDigitTiles) {
    _tile_stored(1, c + kTileInts, 64);
    _tile_stored(3, c + row_tile_ints + kTileInts, 64);
  }
}

}  // namespace

// `num_rows` must be a multiple of 32 here.
void MultiplyPackedAmx(const PackedChunk& chunk) {
  constexpr size_t kRowTileBytes = kRowsPerTile * kSnpsPerChunk;
  const size_t steps = chunk.num_groups / 16;
  const size_t row_tiles = chunk.num_rows / kRowsPerTile;
  const size_t row_tile_ints = chunk.num_digit_tiles * kTileInts;
  MemoryBarrier();
  Configure();
  for (size_t tile = 0; tile < chunk.num_digit_tiles; tile += 2) {
    const int8_t* b = chunk.panel + tile * kPackedTileBytes;
    const bool two = tile + 1 < chunk.num_digit_tiles;
    const size_t left = chunk.num_digit_tiles - tile - (two ? 2 : 1);
    const size_t ahead_tiles = left < 2 ? left : 2;
    const char* next = reinterpret_cast<const char*>(b + (two ? 2 : 1) * kPackedTileBytes);
    const size_t lines = ahead_tiles * kPackedTileBytes / 64;
    Ahead ahead{next, next + ahead_tiles * kPackedTileBytes, lines / (row_tiles / 2 * steps) + 1};
    for (size_t row_tile = 0; row_tile < row_tiles; row_tile += 2) {
      const uint8_t* a = chunk.values + row_tile * kRowTileBytes;
      int32_t* c = chunk.sums + row_tile * row_tile_ints + tile * kTileInts;
      if (two) {
        MultiplyTiles<true>(a, kRowTileBytes, b, steps, c, row_tile_ints, ahead);
      } else {
        MultiplyTiles<false>(a, kRowTileBytes, b, steps, c, row_tile_ints, ahead);
      }
    }
  }
  MemoryBarrier();
  _tile_release();
}

}  // namespace tallele::kernels

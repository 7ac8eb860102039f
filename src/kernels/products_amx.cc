#include <cstring>

#include "kernels/intrinsics.h"
#include "kernels/product_kernels.h"

namespace tallele::kernels {
namespace {

#include "kernels/amx_tiles-inl.h"

constexpr size_t kTileRows = 16;
constexpr size_t kTileInts = kTileRows * kDigitsPerTile;
// 255 * 128 * 65,792 < 2^31: int32 tiles hold so many bytes of a row.
constexpr size_t kBytesPerFlush = 65536;

// Adds the int32 tiles [row tile][digit tile][16][16] to `sums` and clears them.
void Flush(int32_t* tiles, size_t num_rows, size_t num_tiles, int64_t* sums) {
  const size_t stride = num_tiles * kDigitsPerTile;
  for (size_t r = 0; r < num_rows; ++r) {
    for (size_t c = 0; c < num_tiles; ++c) {
      int32_t* from = tiles + ((r / kTileRows) * num_tiles + c) * kTileInts + (r % kTileRows) * 16;
      int64_t* to = sums + r * stride + c * kDigitsPerTile;
      for (size_t d = 0; d < kDigitsPerTile; ++d) {
        to[d] += from[d];
        from[d] = 0;
      }
    }
  }
}

// Fetches the next chunk's rows and panel into L2 while this chunk is multiplied, spread evenly
// over the steps of all its tile products.
class Ahead {
 public:
  // The next chunk begins `offset` bytes into each row and has the panel `panel`; `products` tile
  // products of this chunk share the work.
  Ahead(const PairRows& rows, size_t offset, const uint8_t* panel, size_t panel_bytes,
        size_t products)
      : rows_(rows.data + offset),
        stride_(rows.stride),
        num_rows_(rows.num_rows),
        panel_(panel),
        panel_end_(panel + panel_bytes),
        products_(products) {}
  // The last chunk has nothing ahead.
  Ahead() = default;

  // Before the steps of a tile product: its share of the rows, and of the panel per step.
  void StartProduct(size_t steps) {
    if (num_rows_ == 0) return;
    first_row_ = num_rows_ * started_ / products_;
    last_row_ = num_rows_ * ++started_ / products_;
    const size_t lines = static_cast<size_t>(panel_end_ - panel_) / 64;
    const size_t left = (products_ - started_ + 1) * steps;
    panel_lines_ = (lines + left - 1) / left;
  }

  void Fetch(size_t step) {
    for (size_t r = first_row_; r < last_row_; ++r) {
      _mm_prefetch(reinterpret_cast<const char*>(rows_ + r * stride_ + 64 * step), _MM_HINT_T1);
    }
    for (size_t i = 0; i < panel_lines_ && panel_ < panel_end_; ++i, panel_ += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(panel_), _MM_HINT_T1);
    }
  }

 private:
  const uint8_t* rows_ = nullptr;
  size_t stride_ = 0;
  size_t num_rows_ = 0;
  const uint8_t* panel_ = nullptr;
  const uint8_t* panel_end_ = nullptr;
  size_t products_ = 1;
  size_t started_ = 0;
  size_t first_row_ = 0;
  size_t last_row_ = 0;
  size_t panel_lines_ = 0;
};

// Two row tiles times one or two digit tiles over `steps` groups of 32 people.
template <bool kTwoDigitTiles>
void MultiplyTiles(const uint8_t* a, size_t stride, const uint8_t* b, size_t steps, int32_t* c,
                   size_t row_tile_ints, Ahead& ahead) {
  const uint8_t* a1 = a + kTileRows * stride;
  const uint8_t* b1 = b + kTileBytes;
  ahead.StartProduct(steps);
  _tile_loadd(0, c, 64);
  _tile_loadd(2, c + row_tile_ints, 64);
  if constexpr (kTwoDigitTiles) {
    _tile_loadd(1, c + kTileInts, 64);
    _tile_loadd(3, c + row_tile_ints + kTileInts, 64);
  }
  for (size_t k = 0; k < steps; ++k) {
    ahead.Fetch(k);
    _tile_loadd(4, a + 64 * k, static_cast<long>(stride));
    _tile_loadd(6, b + 1024 * k, 64);
    _tile_loadd(5, a1 + 64 * k, static_cast<long>(stride));
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

// Up to 32 rows that lie at `a`, over one chunk.
void MultiplyRowPair(const uint8_t* a, size_t stride, const uint8_t* panel, size_t num_tiles,
                     size_t steps, int32_t* tiles, Ahead& ahead) {
  const size_t row_tile_ints = num_tiles * kTileInts;
  size_t c = 0;
  for (; c + 2 <= num_tiles; c += 2) {
    MultiplyTiles<true>(a, stride, panel + c * kTileBytes, steps, tiles + c * kTileInts,
                        row_tile_ints, ahead);
  }
  if (c < num_tiles) {
    MultiplyTiles<false>(a, stride, panel + c * kTileBytes, steps, tiles + c * kTileInts,
                         row_tile_ints, ahead);
  }
}

constexpr size_t kEdgeBytes = 32 * kPeoplePerChunk * 2;

}  // namespace

size_t TileScratchBytes(size_t num_rows, size_t num_tiles) {
  return (num_rows + 31) / 32 * 2 * num_tiles * kTileInts * sizeof(int32_t) + kEdgeBytes;
}

void MultiplyBytesAmx(const PairRows& rows, const uint8_t* panel, size_t num_tiles, int64_t* sums,
                      std::byte* scratch) {
  uint8_t* edge = reinterpret_cast<uint8_t*>(scratch);
  int32_t* tiles = reinterpret_cast<int32_t*>(scratch + kEdgeBytes);
  std::memset(scratch, 0, TileScratchBytes(rows.num_rows, num_tiles));
  Configure();
  const size_t num_bytes = PaddedPeople(rows.num_people) * 2;
  size_t held = 0;
  for (size_t begin = 0, chunk = 0; begin < num_bytes; begin += 2 * kPeoplePerChunk, ++chunk) {
    const size_t bytes =
        num_bytes - begin < 2 * kPeoplePerChunk ? num_bytes - begin : 2 * kPeoplePerChunk;
    if (held + bytes > kBytesPerFlush) {
      Flush(tiles, rows.num_rows, num_tiles, sums);
      held = 0;
    }
    held += bytes;
    const size_t panel_bytes = num_tiles * kTileBytes;
    const uint8_t* chunk_panel = panel + chunk * panel_bytes;
    Ahead ahead;
    if (begin + bytes < num_bytes) {
      ahead = Ahead(rows, begin + bytes, chunk_panel + panel_bytes, panel_bytes,
                    (rows.num_rows + 31) / 32 * ((num_tiles + 1) / 2));
    }
    for (size_t row = 0; row < rows.num_rows; row += 32) {
      const uint8_t* a = rows.row(row) + begin;
      size_t stride = rows.stride;
      if (row + 32 > rows.num_rows) {
        // The last rows are copied beside zero rows, so that tiles never read past the block.
        for (size_t r = row; r < rows.num_rows; ++r) {
          std::memcpy(edge + (r - row) * 2 * kPeoplePerChunk, rows.row(r) + begin, bytes);
        }
        a = edge;
        stride = 2 * kPeoplePerChunk;
      }
      MemoryBarrier();
      MultiplyRowPair(a, stride, chunk_panel, num_tiles, bytes / 64,
                      tiles + row / 32 * 2 * num_tiles * kTileInts, ahead);
    }
    MemoryBarrier();
  }
  Flush(tiles, rows.num_rows, num_tiles, sums);
  _tile_release();
}

}  // namespace tallele::kernels

// The 2-bit product, written once. A file of one instruction set defines, before including this,
//   struct Lanes { kRowsAtOnce (divides into 16 with a rest); kTilesAtOnce (1 or 3); kPerTile
//                  vectors per tile of 16 lanes; kPiecesPerFlush; Acc, Digits; Zero();
//                  LoadDigits(const int8_t*); Broadcast(const uint8_t*); MultiplyAdd(Acc, values,
//                  digits); AddTo(int32_t*, Acc) }
// in its anonymous namespace: every translation unit gets its own copy, compiled with its own
// flags.

// `values`: row r's piece p of 64 SNPs lies at r * 64 + p * 1024. `panel`: the first tile.
template <int kRows>
inline void MultiplyPackedTile(const uint8_t* values, const int8_t* panel, size_t num_pieces,
                               int32_t* sums) {
  constexpr int kVectors = Lanes::kPerTile * Lanes::kTilesAtOnce;
  constexpr int kVectorBytes = 64 / Lanes::kPerTile;
  typename Lanes::Acc acc[kRows][kVectors];
  TALLELE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[r][v] = Lanes::Zero();
  }
  for (size_t piece = 0; piece < num_pieces; ++piece) {
    const uint8_t* x = values + piece * kRowsPerTile * 64;
    const int8_t* b = panel + piece * 1024;
    for (size_t group = 0; group < 16; ++group) {
      typename Lanes::Digits digits[kVectors];
      TALLELE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        digits[v] = Lanes::LoadDigits(b + (v / Lanes::kPerTile) * kPackedTileBytes + 64 * group +
                                      (v % Lanes::kPerTile) * kVectorBytes);
      }
      TALLELE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const auto four = Lanes::Broadcast(x + r * 64 + 4 * group);
        TALLELE_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          acc[r][v] = Lanes::MultiplyAdd(acc[r][v], four, digits[v]);
        }
      }
    }
  }
  TALLELE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Lanes::AddTo(sums + (v / Lanes::kPerTile) * kRowsPerTile * kPackedLanes + r * kPackedLanes +
                       (v % Lanes::kPerTile) * (16 / Lanes::kPerTile),
                   acc[r][v]);
    }
  }
}

inline void MultiplyPackedChunk(const PackedChunk& c) {
  constexpr int kRows = Lanes::kRowsAtOnce;
  constexpr int kRest = static_cast<int>(kRowsPerTile) % kRows;
  constexpr size_t kTileInts = kRowsPerTile * kPackedLanes;
  const size_t pieces = c.num_groups / 16;
  for (size_t tile = 0; tile < c.num_digit_tiles; tile += Lanes::kTilesAtOnce) {
    for (size_t first = 0; first < pieces; first += Lanes::kPiecesPerFlush) {
      const size_t left = pieces - first;
      const size_t count = left < Lanes::kPiecesPerFlush ? left : Lanes::kPiecesPerFlush;
      const int8_t* panel = c.panel + tile * kPackedTileBytes + first * 1024;
      for (size_t row_tile = 0; row_tile < c.num_rows / kRowsPerTile; ++row_tile) {
        const uint8_t* x = c.values + ExpandedOffset(row_tile * kRowsPerTile, first * 64);
        int32_t* sums = c.sums + (row_tile * c.num_digit_tiles + tile) * kTileInts;
        size_t row = 0;
        for (; row + kRows <= kRowsPerTile; row += kRows) {
          MultiplyPackedTile<kRows>(x + row * 64, panel, count, sums + row * kPackedLanes);
        }
        if constexpr (kRest > 0) {
          MultiplyPackedTile<kRest>(x + row * 64, panel, count, sums + row * kPackedLanes);
        }
      }
    }
  }
}

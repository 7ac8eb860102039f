// The 16-bit product, written once. A file of one instruction set defines, before including this,
//   struct Lanes { static constexpr int kPerTile; using Acc; Zero(); LoadDigits(const uint8_t*);
//                  Broadcast(const int16_t*); MultiplyAdd(Acc, values, digits); AddTo(int64_t*,
//                  Acc) }
// in its anonymous namespace: every translation unit gets its own copy, compiled with its own
// flags.

template <int kRows>
inline void MultiplyTile(const int16_t* values, size_t value_stride, const uint8_t* tile,
                         size_t num_pairs, int64_t* sums, size_t sums_stride) {
  constexpr int kVectors = Lanes::kPerTile;
  typename Lanes::Acc acc[kRows][kVectors];
  TALLELE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[r][v] = Lanes::Zero();
  }
  for (size_t pair = 0; pair < num_pairs; ++pair) {
    typename Lanes::Digits digits[kVectors];
    TALLELE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      digits[v] = Lanes::LoadDigits(tile + 64 * pair + (64 / kVectors) * v);
    }
    TALLELE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto x = Lanes::Broadcast(values + r * value_stride + 2 * pair);
      TALLELE_UNROLL
      for (int v = 0; v < kVectors; ++v) acc[r][v] = Lanes::MultiplyAdd(acc[r][v], x, digits[v]);
    }
  }
  TALLELE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    TALLELE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Lanes::AddTo(sums + r * sums_stride + (16 / kVectors) * v, acc[r][v]);
    }
  }
}

template <int kRows>
inline void MultiplyRows(const Int16Chunk& c, size_t row, size_t tile, size_t first_pair,
                         size_t num_pairs) {
  MultiplyTile<kRows>(c.values + row * c.value_stride + 2 * first_pair, c.value_stride,
                      c.panel + tile * kTileBytes + 64 * first_pair, num_pairs,
                      c.sums + row * c.sums_stride + tile * kDigitsPerTile, c.sums_stride);
}

template <int kRows>
inline void MultiplyRest(const Int16Chunk& c, size_t row, size_t tile, size_t first_pair,
                         size_t num_pairs) {
  if constexpr (kRows > 0) {
    if (c.num_rows - row == kRows) {
      MultiplyRows<kRows>(c, row, tile, first_pair, num_pairs);
    } else {
      MultiplyRest<kRows - 1>(c, row, tile, first_pair, num_pairs);
    }
  }
}

inline void MultiplyChunk(const Int16Chunk& c) {
  constexpr int kRows = Lanes::kRowsAtOnce;
  for (size_t first = 0; first < c.num_pairs; first += c.flush_pairs) {
    const size_t pairs = c.num_pairs - first < c.flush_pairs ? c.num_pairs - first : c.flush_pairs;
    for (size_t tile = 0; tile < c.num_tiles; ++tile) {
      size_t row = 0;
      for (; row + kRows <= c.num_rows; row += kRows) {
        MultiplyRows<kRows>(c, row, tile, first, pairs);
      }
      MultiplyRest<kRows - 1>(c, row, tile, first, pairs);
    }
  }
}

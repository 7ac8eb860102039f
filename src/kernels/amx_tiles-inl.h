// Tile set-up shared by the AMX kernels; included into the anonymous namespace of each file, so
// that every translation unit gets its own copy, compiled with its own flags.

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t column_bytes[16] = {};
  uint8_t rows[16] = {};
};

// The compiler's tile intrinsics carry no memory dependence (g++ 12): without a barrier, stores
// that a tile load reads may move behind it.
inline void MemoryBarrier() { asm volatile("" ::: "memory"); }

inline void Configure() {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.column_bytes[tile] = 64;
    config.rows[tile] = 16;
  }
  MemoryBarrier();
  _tile_loadconfig(&config);
}

#include "genotype/bgen/bgen_inflate.h"

#include <libdeflate.h>
#include <zstd.h>

#include <cstring>
#include <new>
#include <string>

#include "genotype/bgen/bgen_error.h"

namespace tallele::bgen {

struct Inflater::State {
  libdeflate_decompressor* deflate = libdeflate_alloc_decompressor();
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~State() {
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
  }
};

Inflater::Inflater() : state_(std::make_unique<State>()) {
  if (state_->deflate == nullptr || state_->zstd == nullptr) throw std::bad_alloc();
}
Inflater::~Inflater() = default;

Result<void> Inflater::Inflate(Compression compression, std::span<const uint8_t> stored,
                               std::span<uint8_t> out) {
  if (compression == Compression::kNone) {
    if (stored.size() != out.size()) return DamagedRecord("the genotypes have the wrong length");
    std::memcpy(out.data(), stored.data(), out.size());
    return {};
  }
  if (compression == Compression::kZstd) {
    const size_t made =
        ZSTD_decompressDCtx(state_->zstd, out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(made))
      return DamagedRecord("cannot inflate the genotypes", ZSTD_getErrorName(made));
    if (made == out.size()) return {};
    return DamagedRecord("the genotypes inflate to another length", std::to_string(made),
                         std::to_string(out.size()));
  }
  size_t used = 0, made = 0;
  const libdeflate_result result = libdeflate_zlib_decompress_ex(
      state_->deflate, stored.data(), stored.size(), out.data(), out.size(), &used, &made);
  if (result != LIBDEFLATE_SUCCESS) {
    return DamagedRecord("cannot inflate the genotypes",
                         result == LIBDEFLATE_INSUFFICIENT_SPACE
                             ? "more bytes than declared"
                             : "damaged zlib data or a wrong checksum");
  }
  if (made != out.size()) {
    return DamagedRecord("the genotypes inflate to another length", std::to_string(made),
                         std::to_string(out.size()));
  }
  if (used != stored.size()) {
    return DamagedRecord("bytes follow the compressed genotypes",
                         std::to_string(stored.size() - used));
  }
  return {};
}

}  // namespace tallele::bgen

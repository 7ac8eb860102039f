#include "genotype/writers/block_compressor.h"

#include <libdeflate.h>
#include <zstd.h>

#include <new>

namespace tallele {

struct BlockCompressor::Handles {
  libdeflate_compressor* zlib = nullptr;
  ZSTD_CCtx* zstd = nullptr;

  ~Handles() {
    if (zlib != nullptr) libdeflate_free_compressor(zlib);
    ZSTD_freeCCtx(zstd);
  }
};

BlockCompressor::BlockCompressor(BgenCompression compression, int level)
    : compression_(compression), level_(level), handles_(std::make_unique<Handles>()) {}

BlockCompressor::~BlockCompressor() = default;

Result<void> BlockCompressor::Append(std::span<const uint8_t> block, std::vector<uint8_t>& out) {
  const size_t start = out.size();
  if (compression_ == BgenCompression::kZlib) {
    if (handles_->zlib == nullptr) handles_->zlib = libdeflate_alloc_compressor(level_);
    if (handles_->zlib == nullptr) throw std::bad_alloc();
    const size_t bound = libdeflate_zlib_compress_bound(handles_->zlib, block.size());
    out.resize(start + bound);
    const size_t size = libdeflate_zlib_compress(handles_->zlib, block.data(), block.size(),
                                                 out.data() + start, bound);
    if (size == 0) return InternalError("zlib compression needs more than its bound");
    out.resize(start + size);
    return {};
  }
  if (handles_->zstd == nullptr) handles_->zstd = ZSTD_createCCtx();
  if (handles_->zstd == nullptr) throw std::bad_alloc();
  const size_t bound = ZSTD_compressBound(block.size());
  out.resize(start + bound);
  const size_t size = ZSTD_compressCCtx(handles_->zstd, out.data() + start, bound, block.data(),
                                        block.size(), level_);
  if (ZSTD_isError(size)) {
    return InternalError(std::string("zstd compression failed: ") + ZSTD_getErrorName(size));
  }
  out.resize(start + size);
  return {};
}

}  // namespace tallele

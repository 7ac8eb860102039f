#ifndef TALLELE_GENOTYPE_WRITERS_BLOCK_COMPRESSOR_H_
#define TALLELE_GENOTYPE_WRITERS_BLOCK_COMPRESSOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "genotype/writers/bgen_writer.h"

namespace tallele {

// Compresses genotype blocks with zlib or zstd. One for each thread.
class BlockCompressor {
 public:
  BlockCompressor(BgenCompression compression, int level);
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  // Appends the compressed form of `block`. May throw std::bad_alloc.
  Result<void> Append(std::span<const uint8_t> block, std::vector<uint8_t>& out);

 private:
  struct Handles;
  BgenCompression compression_;
  int level_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_WRITERS_BLOCK_COMPRESSOR_H_

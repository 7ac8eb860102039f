#ifndef TALLELE_GENOTYPE_BGEN_BGEN_HEADER_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"

namespace tallele::bgen {

enum class Compression : uint8_t { kNone = 0, kZlib = 1, kZstd = 2 };

// The header block of a BGEN file (format versions 1.1 to 1.3), checked against its length.
struct Header {
  uint64_t first_variant = 0;  // byte offset
  uint32_t num_variants = 0;
  uint32_t num_samples = 0;
  Compression compression = Compression::kNone;
  int layout = 2;
  std::vector<std::string> sample_ids;  // empty when the file stores none
};

// Reads and checks header and sample block; `file_size` bounds every length before memory is
// taken for it.
Result<Header> ReadHeader(const ReadableFile& file, uint64_t file_size);

// Little-endian numbers at unaligned addresses.
uint16_t LoadU16(const uint8_t* p);
uint32_t LoadU32(const uint8_t* p);

// True for well-formed UTF-8 (RFC 3629).
bool IsUtf8(std::string_view text);

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_HEADER_H_

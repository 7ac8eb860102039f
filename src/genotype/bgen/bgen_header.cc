#include "genotype/bgen/bgen_header.h"

#include <array>
#include <cstring>

#include "genotype/bgen/bgen_error.h"

namespace tallele::bgen {
namespace {

constexpr uint32_t kSmallestHeader = 20;
constexpr uint32_t kKnownFlags = 0x8000003f;

Result<std::vector<std::string>> ReadSampleIds(const ReadableFile& file, uint64_t at,
                                               uint64_t first_variant, uint32_t num_samples) {
  const std::string& path = file.path();
  std::array<std::byte, 8> head{};
  if (first_variant < at + head.size()) {
    return Damaged(path, at, "the sample identifier block does not fit before the first variant");
  }
  TALLELE_TRY(file.ReadAt(at, head));
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(head.data());
  const uint32_t length = LoadU32(bytes), count = LoadU32(bytes + 4);
  if (length < 8 || length > first_variant - at) {
    return Damaged(path, at, "the length of the sample identifier block is impossible",
                   std::to_string(length), "8 to " + std::to_string(first_variant - at));
  }
  if (count != num_samples) {
    return Damaged(path, at + 4, "the sample identifier block holds another number of samples",
                   std::to_string(count), std::to_string(num_samples));
  }
  std::vector<std::byte> block(length - 8);
  TALLELE_TRY(file.ReadAt(at + 8, block));
  const uint8_t* p = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* end = p + block.size();
  std::vector<std::string> ids;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t here = at + 8 + static_cast<uint64_t>(block.size() - (end - p));
    if (end - p < 2 || end - p - 2 < LoadU16(p)) {
      return Damaged(path, here, "the identifier of sample " + std::to_string(i + 1) + " is cut");
    }
    ids.emplace_back(reinterpret_cast<const char*>(p + 2), LoadU16(p));
    if (!IsUtf8(ids.back())) {
      return Damaged(path, here,
                     "the identifier of sample " + std::to_string(i + 1) + " is not valid UTF-8");
    }
    p += 2 + LoadU16(p);
  }
  if (p != end) return Damaged(path, at, "the sample identifier block has bytes left over");
  return ids;
}

}  // namespace

uint16_t LoadU16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
uint32_t LoadU32(const uint8_t* p) {
  uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = static_cast<uint8_t>(text[i]);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const int more = first >= 0xc2 && first < 0xe0   ? 1
                     : first >= 0xe0 && first < 0xf0 ? 2
                     : first >= 0xf0 && first < 0xf5 ? 3
                                                     : 0;
    if (more == 0 || text.size() - i <= static_cast<size_t>(more)) return false;
    for (int k = 1; k <= more; ++k) {
      if ((static_cast<uint8_t>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    const uint8_t second = static_cast<uint8_t>(text[i + 1]);
    // Overlong forms, surrogates and code points past the last.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
      return false;
    }
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

Result<Header> ReadHeader(const ReadableFile& file, uint64_t file_size) {
  const std::string& path = file.path();
  if (file_size < 4 + kSmallestHeader) {
    return Damaged(path, file_size, "the file is too short for a BGEN header",
                   std::to_string(file_size) + " bytes", "at least 24");
  }
  std::array<std::byte, 24> head{};
  TALLELE_TRY(file.ReadAt(0, std::span(head).first(20)));
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(head.data());
  const uint32_t offset = LoadU32(bytes), length = LoadU32(bytes + 4);
  if (std::memcmp(bytes + 16, "bgen", 4) != 0 && LoadU32(bytes + 16) != 0) {
    return Damaged(path, 16, "this is not a BGEN file", "other bytes", "the letters bgen");
  }
  if (length < kSmallestHeader || length > offset || uint64_t{offset} + 4 > file_size) {
    return Damaged(path, 0, "the offset of the first variant or the header length is impossible",
                   std::to_string(offset) + " and " + std::to_string(length),
                   "20 <= header <= offset <= " + std::to_string(file_size - 4));
  }
  TALLELE_TRY(file.ReadAt(uint64_t{length}, std::span(head).first(4)));
  const uint32_t flags = LoadU32(bytes);
  TALLELE_TRY(file.ReadAt(0, std::span(head).first(20)));
  Header header;
  header.first_variant = uint64_t{offset} + 4;
  header.num_variants = LoadU32(bytes + 8);
  header.num_samples = LoadU32(bytes + 12);
  header.layout = static_cast<int>(flags >> 2 & 15);
  const uint32_t compression = flags & 3;
  if ((flags & ~kKnownFlags) != 0 || compression == 3) {
    return Unsupported(path, length, "the header's flags use bits that the format reserves");
  }
  if (header.layout != 1 && header.layout != 2) {
    return Unsupported(path, length, "BGEN layout " + std::to_string(header.layout));
  }
  if (header.layout == 1 && compression == 2) {
    return Damaged(path, length, "layout 1 cannot be compressed with zstd");
  }
  header.compression = static_cast<Compression>(compression);
  // The shortest variant record has 16 bytes; a count beyond the file's length is damage.
  if (uint64_t{header.num_variants} * 16 > file_size - header.first_variant) {
    return Damaged(path, 8, "the file is too short for its number of variants",
                   std::to_string(header.num_variants) + " variants",
                   "at most " + std::to_string((file_size - header.first_variant) / 16));
  }
  if ((flags >> 31) != 0) {
    TALLELE_ASSIGN(header.sample_ids, ReadSampleIds(file, uint64_t{length} + 4,
                                                    header.first_variant, header.num_samples));
  }
  return header;
}

}  // namespace tallele::bgen

#ifndef TALLELE_GENOTYPE_WRITERS_LITTLE_ENDIAN_H_
#define TALLELE_GENOTYPE_WRITERS_LITTLE_ENDIAN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tallele {

// Stores an unsigned number, lowest byte first; returns the place behind it.
template <typename Unsigned>
uint8_t* PutLittle(Unsigned value, uint8_t* out) {
  for (size_t i = 0; i < sizeof(Unsigned); ++i) *out++ = static_cast<uint8_t>(value >> (8 * i));
  return out;
}

template <typename Unsigned>
void AppendLittle(Unsigned value, std::vector<uint8_t>& out) {
  out.resize(out.size() + sizeof(Unsigned));
  PutLittle(value, out.data() + out.size() - sizeof(Unsigned));
}

// Text behind its length in 16 or 32 bits.
inline void AppendText16(std::string_view text, std::vector<uint8_t>& out) {
  AppendLittle(static_cast<uint16_t>(text.size()), out);
  out.insert(out.end(), text.begin(), text.end());
}

inline void AppendText32(std::string_view text, std::vector<uint8_t>& out) {
  AppendLittle(static_cast<uint32_t>(text.size()), out);
  out.insert(out.end(), text.begin(), text.end());
}

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_WRITERS_LITTLE_ENDIAN_H_

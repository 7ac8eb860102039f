#include "genotype/packed/call_strips.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tallele {
namespace {

constexpr uint64_t kLow = 0x5555555555555555;
constexpr size_t kPeoplePerTile = 512;

// PLINK's codes are 0 two copies of the first allele, 1 missing, 2 one copy, 3 none.
uint64_t TranslateWord(StripUse use, uint64_t word) {
  const uint64_t low = word & kLow, high = (word >> 1) & kLow;
  return (use == StripUse::kFirst ? ~high & kLow : low) << 1 | (low ^ high);
}

// Four variants (bytes, low first) x four people: bits 2*(4*v + p) go to 2*(4*p + v).
uint32_t Transpose4x4(uint32_t x) {
  uint32_t t = (x ^ (x >> 6)) & 0x00cc00ccu;
  x ^= t ^ (t << 6);
  t = (x ^ (x >> 12)) & 0x0000f0f0u;
  return x ^ t ^ (t << 12);
}

}  // namespace

void TranslateStrip(StripUse use, std::span<uint8_t> strip) {
  size_t at = 0;
  for (; at + 8 <= strip.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, strip.data() + at, 8);
    word = TranslateWord(use, word);
    std::memcpy(strip.data() + at, &word, 8);
  }
  for (; at < strip.size(); ++at) strip[at] = static_cast<uint8_t>(TranslateWord(use, strip[at]));
}

CodeCounts CountCodes(std::span<const uint8_t> strip, size_t num_people) {
  CodeCounts counts;
  const size_t bytes = num_people / 4;
  const auto add = [&](uint64_t word) {
    const uint64_t low = word & kLow, high = (word >> 1) & kLow;
    counts.of[1] += std::popcount(low & ~high);
    counts.of[2] += std::popcount(high & ~low);
    counts.of[3] += std::popcount(low & high);
  };
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, strip.data() + at, 8);
    add(word);
  }
  for (; at < bytes; ++at) add(strip[at]);
  if (num_people % 4 != 0) add(strip[bytes] & ((1u << (2 * (num_people % 4))) - 1));
  counts.of[0] = static_cast<int64_t>(num_people) - counts.of[1] - counts.of[2] - counts.of[3];
  return counts;
}

void TransposeStrips(const uint8_t* strips, size_t strip_bytes, size_t num_variants,
                     size_t num_people, uint8_t* rows, size_t stride) {
  alignas(64) uint8_t tile[kPeoplePerTile * 64];
  for (size_t first = 0; first < num_people; first += kPeoplePerTile) {
    const size_t people = std::min(kPeoplePerTile, num_people - first);
    const size_t bytes = (people + 3) / 4;
    for (size_t v = 0; v < kVariantsPerStripTile; v += 4) {
      const uint8_t* source[4];
      for (size_t k = 0; k < 4; ++k) {
        source[k] = v + k < num_variants ? strips + (v + k) * strip_bytes + first / 4 : nullptr;
      }
      uint8_t* out = tile + v / 4;
      for (size_t b = 0; b < bytes; ++b) {
        uint32_t x = 0;
        for (size_t k = 0; k < 4; ++k) x |= uint32_t{source[k] ? source[k][b] : 0xffu} << (8 * k);
        x = Transpose4x4(x);
        for (size_t k = 0; k < 4; ++k) out[(4 * b + k) * 64] = static_cast<uint8_t>(x >> (8 * k));
      }
    }
    for (size_t p = 0; p < people; ++p) std::memcpy(rows + (first + p) * stride, tile + p * 64, 64);
  }
}

}  // namespace tallele

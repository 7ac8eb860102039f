#include "genotype/bed/bed_decode.h"

#include <array>
#include <bit>
#include <cstring>

#include "kernels/pair_rows.h"

namespace tallele::bed {
namespace {

static_assert(std::endian::native == std::endian::little);

// Little-endian pair (b0, b1) of each code.
constexpr std::array<uint16_t, 4> kPairOfCode = {0x0001, 0x0000, 0x0100, 0x0000};

constexpr std::array<uint64_t, 256> MakeExpansion() {
  std::array<uint64_t, 256> table{};
  for (size_t byte = 0; byte < 256; ++byte) {
    for (size_t k = 0; k < 4; ++k) {
      table[byte] |= static_cast<uint64_t>(kPairOfCode[(byte >> (2 * k)) & 3]) << (16 * k);
    }
  }
  return table;
}

constexpr std::array<uint64_t, 256> kExpansion = MakeExpansion();

// Low bit of each pair of bits set where the code is 01.
uint64_t MissingBits(uint64_t codes) { return codes & ~(codes >> 1) & 0x5555555555555555u; }

void AppendMissing(uint64_t codes, size_t first_person, std::vector<uint32_t>& missing) {
  for (uint64_t bits = MissingBits(codes); bits != 0; bits &= bits - 1) {
    const size_t person = first_person + static_cast<size_t>(std::countr_zero(bits)) / 2;
    missing.push_back(static_cast<uint32_t>(person));
  }
}

void ListMissing(std::span<const uint8_t> codes, size_t num_people,
                 std::vector<uint32_t>& missing) {
  const size_t whole_words = num_people / 32;
  for (size_t w = 0; w < whole_words; ++w) {
    uint64_t word;
    std::memcpy(&word, codes.data() + 8 * w, 8);
    AppendMissing(word, 32 * w, missing);
  }
  const size_t rest = num_people % 32;
  if (rest == 0) return;
  uint64_t word = 0;
  std::memcpy(&word, codes.data() + 8 * whole_words, BytesPerVariant(rest));
  word &= (uint64_t{1} << (2 * rest)) - 1;
  AppendMissing(word, 32 * whole_words, missing);
}

void ZeroPadding(uint8_t* row, size_t num_people) {
  std::memset(row + 2 * num_people, 0, 2 * (PaddedPeople(num_people) - num_people));
}

}  // namespace

void ExpandCodes(std::span<const uint8_t> codes, size_t num_people, uint8_t* row,
                 std::vector<uint32_t>& missing) {
  const size_t whole_bytes = num_people / 4;
  for (size_t i = 0; i < whole_bytes; ++i) {
    std::memcpy(row + 8 * i, &kExpansion[codes[i]], 8);
  }
  if (const size_t rest = num_people % 4; rest != 0) {
    std::memcpy(row + 8 * whole_bytes, &kExpansion[codes[whole_bytes]], 2 * rest);
  }
  ZeroPadding(row, num_people);
  ListMissing(codes, num_people, missing);
}

void ExpandSelectedCodes(std::span<const uint8_t> codes, std::span<const uint32_t> people,
                         uint8_t* row, std::vector<uint32_t>& missing) {
  for (size_t i = 0; i < people.size(); ++i) {
    const uint32_t person = people[i];
    const uint8_t code = (codes[person / 4] >> (2 * (person % 4))) & 3;
    std::memcpy(row + 2 * i, &kPairOfCode[code], 2);
    if (code == kMissing) missing.push_back(static_cast<uint32_t>(i));
  }
  ZeroPadding(row, people.size());
}

}  // namespace tallele::bed

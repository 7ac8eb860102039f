#include "base/random.h"

#include <cmath>
#include <numbers>

namespace tallele {
namespace {

// The multiplications of one block wait for each other: several side by side take hardly longer.
constexpr size_t kBlocksAtOnce = 8;

struct Blocks {
  uint32_t words[4][kBlocksAtOnce];
};

// Blocks `first`, `first` + 1, ... of a stream, as Philox4x32 has them.
Blocks PhiloxBlocks(uint64_t first, uint64_t stream, uint64_t seed) {
  Blocks b;
  for (size_t l = 0; l < kBlocksAtOnce; ++l) {
    b.words[0][l] = static_cast<uint32_t>(first + l);
    b.words[1][l] = static_cast<uint32_t>((first + l) >> 32);
    b.words[2][l] = static_cast<uint32_t>(stream);
    b.words[3][l] = static_cast<uint32_t>(stream >> 32);
  }
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (size_t l = 0; l < kBlocksAtOnce; ++l) {
      const uint64_t p0 = uint64_t{0xD2511F53} * b.words[0][l];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * b.words[2][l];
      b.words[0][l] = static_cast<uint32_t>(p1 >> 32) ^ b.words[1][l] ^ key0;
      b.words[1][l] = static_cast<uint32_t>(p1);
      b.words[2][l] = static_cast<uint32_t>(p0 >> 32) ^ b.words[3][l] ^ key1;
      b.words[3][l] = static_cast<uint32_t>(p0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return b;
}

}  // namespace

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

void RandomStream::Refill() {
  words_ = Philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                       static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                      {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  ++block_;
  used_ = 0;
}

void RandomStream::FillUniforms(std::span<double> values) {
  size_t i = 0;
  while (used_ < 4 && i < values.size()) values[i++] = NextUniform();
  for (; i + 4 * kBlocksAtOnce <= values.size(); i += 4 * kBlocksAtOnce) {
    const Blocks blocks = PhiloxBlocks(block_, stream_, seed_);
    block_ += kBlocksAtOnce;
    for (size_t l = 0; l < kBlocksAtOnce; ++l) {
      for (size_t w = 0; w < 4; ++w) values[i + 4 * l + w] = (blocks.words[w][l] + 0.5) * 0x1p-32;
    }
  }
  for (; i < values.size(); ++i) values[i] = NextUniform();
}

double RandomStream::NextNormal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(NextUniform()));
  const double angle = 2.0 * std::numbers::pi * NextUniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

uint64_t RandomStream::NextGap(double p) {
  if (p >= 1.0) return 0;
  const double gap = std::floor(std::log(NextUniform()) / std::log1p(-p));
  return gap < 1e18 ? static_cast<uint64_t>(gap) : uint64_t{1'000'000'000'000'000'000};
}

}  // namespace tallele

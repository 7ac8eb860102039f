#ifndef TALLELE_BASE_RANDOM_H_
#define TALLELE_BASE_RANDOM_H_

#include <array>
#include <cstdint>
#include <span>

namespace tallele {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): the block
// of four words is a pure function of counter and key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Random numbers of one stream. (seed, stream) name a stream; streams are independent and can be
// made in any order by any thread. Words and uniforms are the same on every platform; normals and
// gaps go through the C library's logarithm, sine and cosine, whose last bit may differ between
// C libraries and between machines with and without FMA.
class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  uint32_t NextWord() {
    if (used_ == 4) Refill();
    return words_[used_++];
  }
  uint64_t NextLong() {
    const uint64_t high = NextWord();
    return high << 32 | NextWord();
  }
  // Uniform in (0, 1), 32 bits.
  double NextUniform() { return (NextWord() + 0.5) * 0x1p-32; }
  // The next values of NextUniform, faster than one by one.
  void FillUniforms(std::span<double> values);
  // Uniform in 0 .. bound-1; bias below bound / 2^32.
  uint32_t NextBelow(uint32_t bound) {
    return static_cast<uint32_t>(uint64_t{NextWord()} * bound >> 32);
  }
  // Standard normal (Box-Muller, both values used).
  double NextNormal();
  // Number of failures before the next success of trials with probability p, 0 < p <= 1.
  uint64_t NextGap(double p);

 private:
  void Refill();

  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> words_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace tallele

#endif  // TALLELE_BASE_RANDOM_H_

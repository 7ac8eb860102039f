#ifndef TALLELE_ANCESTRY_TRAIN_TORCH_RANDOM_H_
#define TALLELE_ANCESTRY_TRAIN_TORCH_RANDOM_H_

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace tallele {

// PyTorch's default generator of the CPU as far as upstream's training draws from it: MT19937
// seeded from the low 32 bits of the seed (as NumPy's), and what torch makes of its words
// (behaviour of PyTorch 1.13 without MKL).
class TorchRandom {
 public:
  explicit TorchRandom(uint64_t seed) : words_(static_cast<uint32_t>(seed)) {}

  uint32_t NextWord() { return static_cast<uint32_t>(words_()); }
  // 63 bits of two words, as a random seed is drawn.
  uint64_t NextLong() {
    const uint64_t first = NextWord();
    return (first << 32 | NextWord()) & ~(uint64_t{1} << 63);
  }
  // Uniform in [low, high): 24 bits of a word; u * (high - low) + low rounded once.
  float NextUniform(float low, float high);
  void Discard(size_t count) { words_.discard(count); }
  // True with probability `keep`: 53 bits of two words.
  bool NextBernoulli(double keep) {
    const uint64_t first = NextWord();
    const uint64_t bits = (first << 32 | NextWord()) & ((uint64_t{1} << 53) - 1);
    return static_cast<double>(bits) * 0x1p-53 < keep;
  }

  // The state as text of digits and blanks, and back; false for anything else.
  std::string State() const;
  bool Restore(const std::string& state);

 private:
  std::mt19937 words_;
};

// Order in which a shuffled pass over n items takes them; `seed` is what NextLong gave.
std::vector<uint32_t> TorchPermutation(size_t n, uint64_t seed);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_TORCH_RANDOM_H_

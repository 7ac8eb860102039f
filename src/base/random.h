#ifndef TALLELE_BASE_RANDOM_H_
#define TALLELE_BASE_RANDOM_H_

#include <array>
#include <cstdint>

namespace tallele {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"):
// four random words as a pure function of a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// Natural logarithm of a positive normal number, within 2 ulp, from plain additions,
// multiplications and one division: the same bits on every machine, which libm does not promise.
double PortableLog(double x);

// Quantile of the standard normal distribution for 0 < p < 1, relative error about 1e-15
// (Wichura 1988, algorithm AS 241, PPND16). The same bits on every machine.
double NormalQuantile(double p);

// Random numbers as a function of (seed, stream, position): the same on every platform, for any
// number of threads and any order of use. Copying is cheap. Every draw of a real number uses one
// 64-bit word, so position k of a stream is the k-th draw.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  // The position of the next draw, and a jump to any position.
  std::uint64_t position() const { return position_; }
  void Seek(std::uint64_t position) { position_ = position; }

  // 64 uniform bits.
  std::uint64_t NextBits() {
    const std::uint64_t block = position_ >> 1;
    if (block != cached_block_ || !cached_) Refill(block);
    return words_[position_++ & 1];
  }

  // Uniform on the open interval (0, 1), a multiple of 2^-53 plus 2^-54.
  double Uniform() { return (static_cast<double>(NextBits() >> 11) + 0.5) * 0x1.0p-53; }

  // Uniform integer in [0, bound), bound > 0; bias below bound / 2^64.
  std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(NextBits()) * bound) >> 64);
  }

  // True with the given probability.
  bool Bernoulli(double probability) { return Uniform() < probability; }

  // Standard normal.
  double Normal() { return NormalQuantile(Uniform()); }

  // Standard exponential (mean 1).
  double Exponential() { return -PortableLog(Uniform()); }

  // How many failures come before the next success of independent trials, each a success with
  // `probability`; -1 stands for "none within 2^62 trials". Walking by gaps costs one draw per
  // success instead of one per trial.
  std::int64_t Gap(double probability);

  // Allele count of one person under Hardy-Weinberg: 0, 1 or 2.
  int Binomial2(double frequency) {
    const double u = Uniform();
    const double q = 1.0 - frequency;
    if (u < q * q) return 0;
    return u < q * (1.0 + frequency) ? 1 : 2;
  }

 private:
  void Refill(std::uint64_t block);

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;
  std::uint64_t cached_block_ = 0;
  bool cached_ = false;
  std::array<std::uint64_t, 2> words_{};
};

}  // namespace tallele

#endif  // TALLELE_BASE_RANDOM_H_

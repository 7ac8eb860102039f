#include "ancestry/train/torch_random.h"

#include <cmath>
#include <numeric>
#include <sstream>

namespace tallele {

float TorchRandom::NextUniform(float low, float high) {
  const float u = static_cast<float>(NextWord() & 0xffffff) * 0x1p-24f;
  return std::fma(u, high - low, low);
}

std::string TorchRandom::State() const {
  std::ostringstream text;
  text << words_;
  return text.str();
}

bool TorchRandom::Restore(const std::string& state) {
  std::istringstream text(state);
  std::mt19937 words;
  text >> words;
  if (!text) return false;
  words_ = words;
  return true;
}

std::vector<uint32_t> TorchPermutation(size_t n, uint64_t seed) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  TorchRandom random(seed);
  for (size_t i = 0; i + 1 < n; ++i) {
    std::swap(order[i], order[i + random.NextWord() % (n - i)]);
  }
  return order;
}

}  // namespace tallele

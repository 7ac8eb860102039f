#include "ancestry/train/training_random.h"

#include <array>
#include <numeric>

#include "ancestry/model/fixed_math.h"
#include "base/random.h"

namespace tallele {
namespace {

class UpstreamRandom final : public TrainingRandom {
 public:
  explicit UpstreamRandom(const TorchRandom& random) : random_(random) {}

  bool IsKeyed() const override { return false; }

  // Every pass draws a seed for loader processes, used or not.
  void BeginPlainPass() override { random_.NextLong(); }

  std::vector<uint32_t> BeginShuffledPass(int64_t, int, size_t n) override {
    random_.NextLong();
    return TorchPermutation(n, random_.NextLong());
  }

  void SelectInputs(int64_t, int64_t, size_t num_snps, double dropout,
                    InputSelection& selection) override {
    selection.snps.clear();
    selection.lists_kept = dropout >= 0.5;
    if (dropout == 0) return;
    for (size_t snp = 0; snp < num_snps; ++snp) {
      if (random_.NextBernoulli(1 - dropout) == selection.lists_kept) {
        selection.snps.push_back(static_cast<uint32_t>(snp));
      }
    }
  }

  void SelectUnits(int64_t, std::span<const int64_t>, size_t, size_t, double dropout,
                   std::span<uint8_t> keep) override {
    for (uint8_t& unit : keep) unit = random_.NextBernoulli(1 - dropout) ? 1 : 0;
  }

  std::string State() const override { return random_.State(); }
  bool Restore(const std::string& state) override { return random_.Restore(state); }

 private:
  TorchRandom random_;
};

// Streams named by what is drawn, epoch and person, so that neither the order of people nor a
// resume matters.
class KeyedRandom final : public TrainingRandom {
 public:
  explicit KeyedRandom(uint64_t seed) : seed_(seed) {}

  bool IsKeyed() const override { return true; }
  void BeginPlainPass() override {}

  std::vector<uint32_t> BeginShuffledPass(int64_t epoch, int pass, size_t n) override {
    RandomStream stream = Stream(kOrder, epoch, pass);
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (size_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[stream.NextBelow(static_cast<uint32_t>(i))]);
    }
    return order;
  }

  // Lists the rarer half by the gaps between its members, which are geometric.
  void SelectInputs(int64_t epoch, int64_t person, size_t num_snps, double dropout,
                    InputSelection& selection) override {
    selection.snps.clear();
    selection.lists_kept = dropout >= 0.5;
    if (dropout == 0) return;
    const double listed = selection.lists_kept ? 1 - dropout : dropout;
    const double log_unlisted = FixedLog(1 - listed);
    RandomStream stream = Stream(kInputs, epoch, person);
    std::array<double, 64> uniforms;
    uint64_t snp = 0;
    for (;;) {
      stream.FillUniforms(uniforms);
      for (const double uniform : uniforms) {
        snp += static_cast<uint64_t>(FixedLog(uniform) / log_unlisted);
        if (snp >= num_snps) return;
        selection.snps.push_back(static_cast<uint32_t>(snp++));
      }
    }
  }

  void SelectUnits(int64_t epoch, std::span<const int64_t> people, size_t layer, size_t width,
                   double dropout, std::span<uint8_t> keep) override {
    for (size_t i = 0; i < people.size(); ++i) {
      RandomStream stream = Stream(kUnits + layer, epoch, people[i]);
      for (size_t unit = 0; unit < width; ++unit) {
        keep[i * width + unit] = stream.NextUniform() >= dropout ? 1 : 0;
      }
    }
  }

  std::string State() const override { return "keyed"; }
  bool Restore(const std::string& state) override { return state == State(); }

 private:
  static constexpr uint64_t kOrder = 0, kInputs = 1, kUnits = 2;

  RandomStream Stream(uint64_t purpose, int64_t epoch, int64_t item) const {
    return RandomStream(
        seed_, purpose << 58 | static_cast<uint64_t>(epoch) << 32 | static_cast<uint64_t>(item));
  }

  uint64_t seed_;
};

}  // namespace

void InvertSelection(size_t num_snps, InputSelection& selection) {
  std::vector<uint32_t> others;
  others.reserve(num_snps - selection.snps.size());
  size_t next = 0;
  for (uint32_t snp = 0; snp < num_snps; ++snp) {
    if (next < selection.snps.size() && selection.snps[next] == snp) {
      ++next;
    } else {
      others.push_back(snp);
    }
  }
  selection.snps = std::move(others);
  selection.lists_kept = !selection.lists_kept;
}

std::unique_ptr<TrainingRandom> MakeTrainingRandom(TrainEngine engine, uint64_t seed,
                                                   const TorchRandom& after_weights) {
  if (engine == TrainEngine::kUpstream) return std::make_unique<UpstreamRandom>(after_weights);
  return std::make_unique<KeyedRandom>(seed);
}

}  // namespace tallele

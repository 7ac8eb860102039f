#include "simulate/genotypes.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "simulate/streams.h"

namespace tallele {
namespace {

constexpr uint32_t kFounders = 256;             // haplotypes of each population
constexpr uint32_t kStretchLength = 2'000'000;  // bases between recombinations
constexpr double kRare = 0.01;

uint64_t StretchItem(uint32_t chromosome, uint32_t stretch) {
  return uint64_t{chromosome} << 16 | stretch;
}

}  // namespace

GenotypeDrawer::GenotypeDrawer(const SimulationRequest& request,
                               const std::vector<SimulatedPerson>& people)
    : request_(request), people_(people) {}

// Founder haplotype that each of everybody's two haplotypes copies on a stretch.
std::vector<uint8_t> GenotypeDrawer::FounderOf(uint32_t chromosome, uint32_t stretch) const {
  RandomStream random(request_.seed,
                      StreamOf(Purpose::kSegments, StretchItem(chromosome, stretch)));
  std::vector<uint8_t> founder(2 * people_.size());
  for (size_t i = 0; i < people_.size(); ++i) {
    const uint32_t word = random.NextWord();
    if (people_[i].father < 0) {
      founder[2 * i] = static_cast<uint8_t>(word);
      founder[2 * i + 1] = static_cast<uint8_t>(word >> 8);
    } else {
      const size_t father = static_cast<size_t>(people_[i].father);
      founder[2 * i] = founder[2 * father + (word >> 16 & 1)];
      founder[2 * i + 1] = founder[2 * (father + 1) + (word >> 17 & 1)];
    }
  }
  return founder;
}

void GenotypeDrawer::Draw(const SimulatedVariant& variant, uint64_t stream,
                          std::vector<uint8_t>& copies) const {
  const double minor = std::min(variant.frequency, 1 - variant.frequency);
  if (minor < kRare) {
    DrawRare(variant, stream, copies);
  } else {
    DrawLinked(variant, stream, copies);
  }
}

void GenotypeDrawer::DrawLinked(const SimulatedVariant& variant, uint64_t stream,
                                std::vector<uint8_t>& copies) const {
  // The stretch's copying pattern is kept by each thread while it works on one stretch.
  struct Kept {
    const GenotypeDrawer* drawer = nullptr;
    uint64_t item = 0;
    std::vector<uint8_t> founder;
  };
  thread_local Kept kept;
  const uint32_t stretch = variant.position / kStretchLength;
  const uint64_t item = StretchItem(variant.chromosome_number, stretch);
  if (kept.drawer != this || kept.item != item) {
    kept = {this, item, FounderOf(variant.chromosome_number, stretch)};
  }
  RandomStream random(request_.seed, stream);
  std::vector<uint8_t> allele(kFounders * request_.num_populations);
  for (size_t k = 0; k < request_.num_populations; ++k) {
    for (uint32_t f = 0; f < kFounders; ++f) {
      allele[k * kFounders + f] = random.NextUniform() < variant.population_frequency[k];
    }
  }
  copies.resize(people_.size());
  const uint8_t* founder = kept.founder.data();
  for (size_t i = 0; i < people_.size(); ++i) {
    const uint8_t* own = allele.data() + people_[i].population * kFounders;
    copies[i] = static_cast<uint8_t>(own[founder[2 * i]] + own[founder[2 * i + 1]]);
  }
}

// Carriers by geometric gaps among the founders' haplotypes; a child gets each parent's allele with
// probability one half.
void GenotypeDrawer::DrawRare(const SimulatedVariant& variant, uint64_t stream,
                              std::vector<uint8_t>& copies) const {
  RandomStream random(request_.seed, stream);
  const bool second_is_minor = variant.frequency < 0.5;
  copies.assign(people_.size(), 0);
  double largest = 0;
  for (const float f : variant.population_frequency) {
    largest = std::max(largest, double(second_is_minor ? f : 1 - f));
  }
  largest = std::clamp(largest, 1e-9, 1.0);
  for (uint64_t h = random.NextGap(largest); h < 2 * people_.size();
       h += 1 + random.NextGap(largest)) {
    const SimulatedPerson& person = people_[h / 2];
    const double f = variant.population_frequency[person.population];
    const double keep = (second_is_minor ? f : 1 - f) / largest;
    if (person.father < 0 && random.NextUniform() < keep) ++copies[h / 2];
  }
  for (size_t i = 0; i < people_.size(); ++i) {
    if (people_[i].father < 0) continue;
    const size_t father = static_cast<size_t>(people_[i].father);
    for (const size_t parent : {father, father + 1}) {
      if (copies[parent] == 2 || (copies[parent] == 1 && random.NextUniform() < 0.5)) ++copies[i];
    }
  }
  if (!second_is_minor) {
    for (uint8_t& c : copies) c = static_cast<uint8_t>(2 - c);
  }
}

void ImputeProbabilities(const SimulationRequest& request, uint64_t variant, double frequency,
                         std::span<const uint8_t> copies, std::vector<uint16_t>& probabilities,
                         std::vector<uint32_t>& missing) {
  const uint32_t top = (1u << request.bits) - 1;
  const auto pair = [](uint32_t two, uint32_t one) {
    return std::pair<uint16_t, uint16_t>(static_cast<uint16_t>(two), static_cast<uint16_t>(one));
  };
  const std::pair<uint16_t, uint16_t> certain[3] = {pair(top, 0), pair(0, top), pair(0, 0)};
  probabilities.resize(2 * copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    probabilities[2 * i] = certain[copies[i]].first;
    probabilities[2 * i + 1] = certain[copies[i]].second;
  }
  RandomStream random(request.seed, StreamOf(Purpose::kImputation, variant));
  const double minor = std::min(frequency, 1 - frequency);
  // Rare variants: few people, small noise of units of 1/255. Common ones: more people, less sure.
  const double uncertain = minor < 0.01 ? 0.03 : minor < 0.05 ? 0.06 : 0.15;
  const double largest_share = minor < 0.01 ? 0.25 : 0.8;
  for (uint64_t i = random.NextGap(uncertain); i < copies.size();
       i += 1 + random.NextGap(uncertain)) {
    const double u = random.NextUniform(), v = random.NextUniform();
    uint32_t p[3] = {0, 0, 0};  // by copies of the second allele
    const bool homozygous_major = copies[i] == (frequency < 0.5 ? 0 : 2);
    const double share =
        minor < 0.01 && homozygous_major ? -std::log(u) * 1.5 / 255 : largest_share * u * v;
    const auto moved = static_cast<uint32_t>(std::min(share, 0.8) * top);
    p[copies[i]] = top - moved;
    if (copies[i] == 1) {
      p[0] = static_cast<uint32_t>(v * moved);
      p[2] = moved - p[0];
    } else {
      const auto far = static_cast<uint32_t>(0.3 * v * moved);
      p[1] = moved - far;
      p[2 - copies[i]] = far;
    }
    probabilities[2 * i] = static_cast<uint16_t>(p[0]);
    probabilities[2 * i + 1] = static_cast<uint16_t>(p[1]);
  }
  missing.clear();
  if (request.missing_call_share <= 0) return;
  RandomStream gaps(request.seed, StreamOf(Purpose::kMissing, variant));
  if (gaps.NextUniform() >= request.missing_variant_share) return;
  const double share = request.missing_call_share;
  for (uint64_t i = gaps.NextGap(share); i < copies.size(); i += 1 + gaps.NextGap(share)) {
    missing.push_back(static_cast<uint32_t>(i));
    probabilities[2 * i] = probabilities[2 * i + 1] = 0;
  }
}

}  // namespace tallele

#include "simulate/genotypes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "simulate/streams.h"

namespace tallele {
namespace {

constexpr size_t kFounders = 1024;        // haplotypes that everybody descends from
constexpr uint64_t kCellLength = 10'000;  // bases between possible recombinations
constexpr uint64_t kSegmentCells = 50;    // cells copied from one founder
constexpr uint64_t kKnotLength = 40'000;  // bases over which founders' alleles lose correlation
constexpr double kRare = 0.01;

// The finaliser of SplitMix64: a good hash of a counter.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t Mix(uint64_t key, uint64_t a, uint64_t b) {
  return Mix(key ^ Mix(a * 0x9e3779b97f4a7c15 + b));
}

// About normal with mean 0 and variance 1: a sum of four uniforms. Exact arithmetic.
double AboutNormal(uint64_t bits) {
  const uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - 2 * 65535.0) / (65536.0 * 0.5773502691896258);
}

}  // namespace

GenotypeDrawer::GenotypeDrawer(const SimulationRequest& request,
                               const std::vector<SimulatedPerson>& people)
    : request_(request), people_(people) {
  segment_key_ = RandomStream(request.seed, StreamOf(Purpose::kSegments, 0)).NextLong();
  founder_key_ = RandomStream(request.seed, StreamOf(Purpose::kFounders, 0)).NextLong();
}

void GenotypeDrawer::Draw(const SimulatedVariant& variant, uint64_t stream, Workspace& workspace,
                          std::vector<uint8_t>& copies) const {
  if (std::min(variant.frequency, 1 - variant.frequency) < kRare) {
    DrawRare(variant, stream, copies);
  } else {
    DrawLinked(variant, stream, workspace, copies);
  }
}

// The founder that a haplotype without simulated parents copies in a cell. Segments of all
// haplotypes have one length and start at offsets of their own.
uint16_t GenotypeDrawer::FounderSource(uint64_t chromosome, uint64_t cell, size_t haplotype) const {
  const uint64_t own = Mix(segment_key_, chromosome, haplotype);
  const uint64_t segment = (cell + own % kSegmentCells) / kSegmentCells;
  return static_cast<uint16_t>(Mix(own + segment * 0x9e3779b97f4a7c15) % kFounders +
                               people_[haplotype / 2].population * kFounders);
}

void GenotypeDrawer::FillSources(uint64_t cell, Workspace& workspace) const {
  const uint64_t chromosome = cell >> 32;
  const uint64_t place = cell & 0xffffffff;
  const uint64_t num_cells = ChromosomeLength(request_) / kCellLength + 1;
  std::vector<uint16_t>& sources = workspace.sources;
  sources.resize(2 * people_.size());
  for (size_t i = 0; i < people_.size(); ++i) {
    for (size_t side = 0; side < 2; ++side) {
      const size_t haplotype = 2 * i + side;
      if (people_[i].father < 0) {
        sources[haplotype] = FounderSource(chromosome, place, haplotype);
        continue;
      }
      // Which of the parent's haplotypes: one at the start, the other behind the crossover.
      const uint64_t own = Mix(segment_key_, chromosome, haplotype);
      const uint64_t crossed = place >= (own >> 1) % num_cells ? 1 : 0;
      const size_t parent = static_cast<size_t>(people_[i].father) + side;
      sources[haplotype] = sources[2 * parent + ((own & 1) ^ crossed)];
    }
  }
  workspace.cell = cell;
}

// Alleles of the founders, for each population: those with the smallest scores carry the second
// allele, as many as the population's frequency asks for. The score is a walk along the chromosome
// (founders' knots, interpolated so that its variance stays 1) mixed with the variant's own noise.
void GenotypeDrawer::FillSourceAlleles(const SimulatedVariant& variant, uint64_t stream,
                                       std::vector<uint8_t>& source_allele) const {
  RandomStream random(request_.seed, stream);
  const uint64_t knot = variant.position / kKnotLength;
  const double place = static_cast<double>(variant.position % kKnotLength) / kKnotLength;
  const double shared = 0.5 + 0.5 * random.NextUniform();  // share of variance from the walk
  const double left = std::sqrt(shared * (1 - place)), right = std::sqrt(shared * place);
  const double noise = std::sqrt(1 - shared);
  const double sign = random.NextWord() & 1 ? 1 : -1;
  const uint64_t own_key = random.NextLong();
  std::vector<std::pair<double, uint32_t>> scores(kFounders);
  for (uint32_t f = 0; f < kFounders; ++f) {
    const uint64_t line = uint64_t{variant.chromosome_number} << 32 | f;
    const double walk = left * AboutNormal(Mix(founder_key_, line, knot)) +
                        right * AboutNormal(Mix(founder_key_, line, knot + 1));
    scores[f] = {sign * walk + noise * AboutNormal(Mix(own_key, f, 0)), f};
  }
  std::sort(scores.begin(), scores.end());
  source_allele.assign(kFounders * request_.num_populations, 0);
  const double rounding = random.NextUniform();
  for (size_t k = 0; k < request_.num_populations; ++k) {
    const double wanted = kFounders * double{variant.population_frequency[k]} + rounding;
    const size_t count = std::min(kFounders, static_cast<size_t>(wanted));
    for (size_t r = 0; r < count; ++r) source_allele[k * kFounders + scores[r].second] = 1;
  }
}

void GenotypeDrawer::DrawLinked(const SimulatedVariant& variant, uint64_t stream,
                                Workspace& workspace, std::vector<uint8_t>& copies) const {
  const uint64_t cell = uint64_t{variant.chromosome_number} << 32 | variant.position / kCellLength;
  if (workspace.cell != cell) FillSources(cell, workspace);
  FillSourceAlleles(variant, stream, workspace.source_allele);
  copies.resize(people_.size());
  const uint16_t* sources = workspace.sources.data();
  const uint8_t* allele = workspace.source_allele.data();
  for (size_t i = 0; i < people_.size(); ++i) {
    copies[i] = static_cast<uint8_t>(allele[sources[2 * i]] + allele[sources[2 * i + 1]]);
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

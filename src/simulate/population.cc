#include "simulate/population.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "simulate/streams.h"

namespace tallele {
namespace {

constexpr char kAlleles[] = {'A', 'C', 'G', 'T'};

// Gamma(shape, 1) by Marsaglia and Tsang (2000), with the boost for shapes below 1.
double NextGamma(RandomStream& random, double shape) {
  if (shape < 1) {
    const double boost = std::pow(random.NextUniform(), 1 / shape);
    return NextGamma(random, shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.NextNormal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(random.NextUniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

// Frequency of a population at distance fst from an ancestor with frequency p: Beta with mean p and
// variance fst p (1-p) (Balding and Nichols 1995).
float PopulationFrequency(RandomStream& random, double p, double fst) {
  if (fst <= 0) return static_cast<float>(p);
  const double scale = (1 - fst) / fst;
  const double a = NextGamma(random, p * scale), b = NextGamma(random, (1 - p) * scale);
  return static_cast<float>(a + b > 0 ? a / (a + b) : p);
}

// Frequencies of all populations around `frequency`. Drift is drawn for the minor allele and then
// scaled back to its mean, so that a variant stays in its class of the frequency mix.
std::vector<float> PopulationFrequencies(const SimulationRequest& request, RandomStream& random,
                                         double frequency) {
  const bool second_is_minor = frequency < 0.5;
  const double minor = second_is_minor ? frequency : 1 - frequency;
  std::vector<float> out(request.num_populations);
  double sum = 0;
  for (float& f : out) sum += f = PopulationFrequency(random, minor, request.fst);
  const double scale = sum > 0 ? minor * static_cast<double>(out.size()) / sum : 0;
  for (float& f : out) {
    f = scale > 0 ? std::min(0.99f, static_cast<float>(scale * f)) : static_cast<float>(minor);
    if (!second_is_minor) f = 1 - f;
  }
  return out;
}

double LogUniform(RandomStream& random, double low, double high) {
  return low * std::pow(high / low, random.NextUniform());
}

// A minor allele frequency from the three classes of the mix.
double NextMinorFrequency(const SimulationRequest& request, RandomStream& random, double lowest) {
  const double total = request.maf_mix[0] + request.maf_mix[1] + request.maf_mix[2];
  const double pick = random.NextUniform() * total;
  // The rarest variants are seen about once among all people.
  const double singleton = 0.5 / static_cast<double>(request.num_people);
  double frequency = 0.05 + 0.45 * random.NextUniform();
  if (pick < request.maf_mix[0]) {
    frequency = LogUniform(random, std::min(singleton, 0.005), 0.01);
  } else if (pick < request.maf_mix[0] + request.maf_mix[1]) {
    frequency = LogUniform(random, 0.01, 0.05);
  }
  return frequency < lowest ? lowest + (0.5 - lowest) * random.NextUniform() : frequency;
}

}  // namespace

std::vector<SimulatedPerson> MakePeople(const SimulationRequest& request) {
  std::vector<SimulatedPerson> people;
  const size_t n = request.num_people;
  const auto in_families =
      static_cast<size_t>(request.family_share * static_cast<double>(n)) / 4 * 4;
  for (size_t i = 0; i < n; ++i) {
    RandomStream random(request.seed, StreamOf(Purpose::kPeople, i));
    SimulatedPerson person;
    const size_t family = i < in_families ? i / 4 : i - in_families + in_families / 4;
    person.fid = "F" + std::to_string(family + 1);
    person.iid = "P" + std::to_string(i + 1);
    person.population = static_cast<uint32_t>(family % request.num_populations);
    person.sex = random.NextUniform() < 0.5 ? 1 : 2;
    if (i < in_families) {
      const size_t place = i % 4;
      if (place < 2) person.sex = place == 0 ? 1 : 2;
      if (place >= 2) person.father = static_cast<int32_t>(i - place);
    }
    people.push_back(std::move(person));
  }
  return people;
}

uint32_t ChromosomeLength(const SimulationRequest& request) {
  const size_t most = std::max(request.num_variants, request.num_array_variants);
  return static_cast<uint32_t>(
      std::min<size_t>(100'000'000, 5'000 * (most / request.num_chromosomes + 1)));
}

std::vector<SimulatedVariant> MakeVariants(const SimulationRequest& request, size_t count,
                                           const std::string& prefix, uint64_t stream,
                                           double lowest_frequency) {
  std::vector<SimulatedVariant> variants;
  variants.reserve(count);
  uint32_t position = 0;
  const size_t on_chromosome = count / request.num_chromosomes + 1;
  const auto spacing =
      static_cast<uint32_t>(std::max<size_t>(2, ChromosomeLength(request) / on_chromosome));
  for (size_t v = 0; v < count; ++v) {
    RandomStream random(request.seed, stream + v);
    SimulatedVariant variant;
    const size_t chromosome = v * request.num_chromosomes / count + 1;
    const bool first = variants.empty() || variants.back().chromosome_number != chromosome;
    position = (first ? 10'000 : position) + 1 + random.NextBelow(2 * spacing - 1);
    variant.chromosome_number = static_cast<uint32_t>(chromosome);
    variant.chromosome = std::to_string(chromosome);
    variant.position = position;
    variant.id = prefix + std::to_string(v + 1);
    const uint32_t allele = random.NextBelow(4);
    variant.first_allele = std::string(1, kAlleles[allele]);
    variant.second_allele = std::string(1, kAlleles[(allele + 1 + random.NextBelow(3)) % 4]);
    const double minor = NextMinorFrequency(request, random, lowest_frequency);
    variant.frequency = random.NextUniform() < 0.1 ? 1 - minor : minor;
    variant.population_frequency = PopulationFrequencies(request, random, variant.frequency);
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace tallele

#include "simulate/traits.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/format_number.h"
#include "base/random.h"
#include "simulate/streams.h"

namespace tallele {
namespace {

constexpr size_t kLocoRows = 23;  // REGENIE writes 23 whatever the chromosomes
// A logistic residual has standard deviation pi / sqrt(3), a liability's has 1.
constexpr double kLogitPerLiability = 1.8137993642342178;

void Standardise(std::vector<double>& x) {
  double sum = 0, squares = 0;
  for (const double v : x) sum += v;
  const double mean = sum / static_cast<double>(x.size());
  for (const double v : x) squares += (v - mean) * (v - mean);
  const double sd = std::sqrt(squares / static_cast<double>(x.size()));
  for (double& v : x) v = sd > 0 ? (v - mean) / sd : 0;
}

// Distinct variants, common enough to be causal.
std::vector<size_t> PickCausal(const SimulationRequest& request,
                               const std::vector<SimulatedVariant>& variants,
                               RandomStream& random) {
  std::vector<size_t> eligible;
  for (size_t v = 0; v < variants.size(); ++v) {
    const double f = variants[v].frequency;
    if (std::min(f, 1 - f) >= request.causal_min_maf) eligible.push_back(v);
  }
  const size_t count = std::min(request.num_causal, eligible.size());
  for (size_t i = 0; i < count; ++i) {
    const auto left = static_cast<uint32_t>(eligible.size() - i);
    std::swap(eligible[i], eligible[i + random.NextBelow(left)]);
  }
  eligible.resize(count);
  std::sort(eligible.begin(), eligible.end());
  return eligible;
}

// Sums causal genotypes by chromosome and scales them to variance h2.
void AddGenetics(const SimulationRequest& request, const std::vector<SimulatedVariant>& variants,
                 const GenotypeDrawer& drawer, RandomStream& random, SimulatedTrait& trait) {
  const size_t n = request.num_people;
  std::vector<std::vector<double>> parts(request.num_chromosomes, std::vector<double>(n, 0.0));
  std::vector<uint8_t> copies;
  GenotypeDrawer::Workspace workspace;
  for (const size_t v : PickCausal(request, variants, random)) {
    const double f = variants[v].frequency;
    const double effect = random.NextNormal() / std::sqrt(2 * f * (1 - f));
    trait.causal.push_back({v, effect});
    drawer.Draw(variants[v], StreamOf(Purpose::kGenotypes, v), workspace, copies);
    std::vector<double>& part = parts[variants[v].chromosome_number - 1];
    for (size_t i = 0; i < n; ++i) part[i] += effect * copies[i];
  }
  std::vector<double> total(n, 0.0);
  for (std::vector<double>& part : parts) {
    double mean = 0;
    for (const double x : part) mean += x;
    mean /= static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) total[i] += part[i] -= mean;
  }
  double variance = 0;
  for (const double x : total) variance += x * x;
  variance /= static_cast<double>(n);
  const double scale = variance > 0 ? std::sqrt(request.heritability / variance) : 0;
  for (CausalVariant& causal : trait.causal) causal.effect *= scale;
  for (const std::vector<double>& part : parts) {
    std::vector<float> scaled(n);
    for (size_t i = 0; i < n; ++i) scaled[i] = static_cast<float>(scale * part[i]);
    trait.genetic.push_back(std::move(scaled));
  }
}

void AddValues(const SimulationRequest& request, const SimulatedCovariates& covariates,
               size_t number, SimulatedTrait& trait) {
  const size_t n = request.num_people;
  RandomStream random(request.seed, StreamOf(Purpose::kTraits, number));
  const double noise = std::sqrt(1 - request.heritability);
  trait.values.resize(n);
  for (size_t i = 0; i < n; ++i) {
    double y =
        std::sqrt(request.covariate_variance) * covariates.score[i] + noise * random.NextNormal();
    for (const std::vector<float>& part : trait.genetic) y += part[i];
    trait.values[i] = y;
  }
  if (trait.binary) {
    std::vector<double> sorted = trait.values;
    const auto cases = static_cast<size_t>(request.prevalence * static_cast<double>(n) + 0.5);
    const auto cut = sorted.begin() + static_cast<std::ptrdiff_t>(n - std::min(n, cases));
    std::sort(sorted.begin(), sorted.end());
    const double threshold = cut == sorted.end() ? std::numeric_limits<double>::infinity() : *cut;
    for (double& y : trait.values) y = y >= threshold ? 1 : 0;
    return;
  }
  // Different means and spreads: scale errors then show in results.
  const double mean = number % 3 == 0 ? 50 : number % 3 == 1 ? 1000 : 0;
  const double sd = number % 3 == 0 ? 10 : number % 3 == 1 ? 100 : 1;
  for (double& y : trait.values) y = mean + sd * y;
}

void MakeGaps(const SimulationRequest& request, const std::vector<SimulatedPerson>& people,
              size_t number, SimulatedTrait& trait) {
  RandomStream random(request.seed, StreamOf(Purpose::kGaps, number));
  const auto wanted =
      static_cast<size_t>(request.gap_share * static_cast<double>(people.size()) + 0.5);
  std::vector<size_t> order(people.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + random.NextBelow(static_cast<uint32_t>(order.size() - i))]);
  }
  if (request.gaps == TraitGaps::kPopulation) {
    const uint32_t last = static_cast<uint32_t>(request.num_populations - 1);
    std::stable_partition(order.begin(), order.end(),
                          [&](size_t i) { return people[i].population == last; });
  }
  for (size_t k = 0; k < std::min(wanted, order.size()); ++k) {
    trait.values[order[k]] = std::numeric_limits<double>::quiet_NaN();
  }
}

void AppendPerson(const SimulatedPerson& person, std::string& out) {
  out += person.fid;
  out += '\t';
  out += person.iid;
}

}  // namespace

SimulatedCovariates MakeCovariates(const SimulationRequest& request,
                                   const std::vector<SimulatedPerson>& people) {
  const size_t n = people.size();
  SimulatedCovariates out;
  const auto add = [&](const std::string& name) -> std::vector<double>& {
    out.names.push_back(name);
    return out.values.emplace_back(n);
  };
  out.values.reserve(2 + request.num_pcs);
  std::vector<double>& age = add("age");
  std::vector<double>& sex = add("sex");
  for (size_t k = 0; k < request.num_pcs; ++k) add("PC" + std::to_string(k + 1));
  out.score.resize(n);
  for (size_t i = 0; i < n; ++i) {
    RandomStream random(request.seed, StreamOf(Purpose::kCovariates, i));
    age[i] = std::floor(400 + 301 * random.NextUniform()) / 10;
    sex[i] = people[i].sex;
    for (size_t k = 0; k < request.num_pcs; ++k) {
      // The leading components tell populations apart, as those of real cohorts do.
      const bool tells = k + 1 < request.num_populations && people[i].population == k;
      out.values[2 + k][i] = random.NextNormal() + (tells ? 5 : 0);
    }
    if (request.num_batches > 0) {
      out.batch.push_back(
          "b" + std::to_string(random.NextBelow(static_cast<uint32_t>(request.num_batches))));
    }
    out.score[i] =
        (age[i] - 55) / 8.7 + (sex[i] - 1.5) + (request.num_pcs > 0 ? 0.2 * out.values[2][i] : 0);
  }
  Standardise(out.score);
  return out;
}

std::vector<SimulatedTrait> MakeTraits(const SimulationRequest& request,
                                       const std::vector<SimulatedPerson>& people,
                                       const std::vector<SimulatedVariant>& variants,
                                       const GenotypeDrawer& drawer,
                                       const SimulatedCovariates& covariates) {
  std::vector<SimulatedTrait> traits;
  const size_t count = request.num_quantitative + request.num_binary;
  for (size_t t = 0; t < count; ++t) {
    SimulatedTrait trait;
    trait.binary = t >= request.num_quantitative;
    trait.name = trait.binary ? "BT" + std::to_string(t - request.num_quantitative + 1)
                              : "QT" + std::to_string(t + 1);
    RandomStream random(request.seed, StreamOf(Purpose::kEffects, t));
    AddGenetics(request, variants, drawer, random, trait);
    AddValues(request, covariates, t, trait);
    if (t + request.num_gapped_traits >= count) MakeGaps(request, people, t, trait);
    traits.push_back(std::move(trait));
  }
  return traits;
}

std::vector<double> LocoPrediction(const SimulationRequest& request, const SimulatedTrait& trait,
                                   size_t trait_number, size_t chromosome) {
  // A prediction p of g with squared correlation a and E[g|p] = p: a g + sqrt(a (1-a) h2) noise.
  const double a = request.loco_accuracy;
  const double spread = std::sqrt(a * (1 - a) * request.heritability);
  const double unit = trait.binary ? kLogitPerLiability : 1;
  RandomStream random(request.seed, StreamOf(Purpose::kPredictions, trait_number));
  std::vector<double> prediction(request.num_people);
  for (size_t i = 0; i < prediction.size(); ++i) {
    double g = 0;
    for (size_t c = 0; c < trait.genetic.size(); ++c) {
      if (c + 1 != chromosome) g += trait.genetic[c][i];
    }
    prediction[i] = unit * (a * g + spread * random.NextNormal());
  }
  return prediction;
}

std::string PhenotypeText(const std::vector<SimulatedPerson>& people,
                          const std::vector<SimulatedTrait>& traits) {
  std::string out = "FID\tIID";
  for (const SimulatedTrait& trait : traits) out += "\t" + trait.name;
  out += '\n';
  for (size_t i = 0; i < people.size(); ++i) {
    AppendPerson(people[i], out);
    for (const SimulatedTrait& trait : traits) {
      out += '\t';
      if (std::isnan(trait.values[i])) {
        out += "NA";
      } else {
        AppendSixDigits(trait.values[i], out);
      }
    }
    out += '\n';
  }
  return out;
}

std::string CovariateText(const std::vector<SimulatedPerson>& people,
                          const SimulatedCovariates& covariates) {
  std::string out = "FID\tIID";
  for (const std::string& name : covariates.names) out += "\t" + name;
  if (!covariates.batch.empty()) out += "\tbatch";
  out += '\n';
  for (size_t i = 0; i < people.size(); ++i) {
    AppendPerson(people[i], out);
    for (const std::vector<double>& column : covariates.values) {
      out += '\t';
      AppendSixDigits(column[i], out);
    }
    if (!covariates.batch.empty()) out += "\t" + covariates.batch[i];
    out += '\n';
  }
  return out;
}

std::string TruthText(const std::vector<SimulatedVariant>& variants,
                      const std::vector<SimulatedTrait>& traits) {
  std::string out = "trait\tchrom\tpos\tid\teffect_allele\teffect\n";
  for (const SimulatedTrait& trait : traits) {
    for (const CausalVariant& causal : trait.causal) {
      const SimulatedVariant& v = variants[causal.variant];
      out += trait.name + "\t" + v.chromosome + "\t" + std::to_string(v.position) + "\t" + v.id +
             "\t" + v.second_allele + "\t" + FormatSixDigits(causal.effect) + "\n";
    }
  }
  return out;
}

std::string LocoText(const SimulationRequest& request, const std::vector<SimulatedPerson>& people,
                     const SimulatedTrait& trait, size_t trait_number) {
  // REGENIE lists people in byte order of FID_IID.
  std::vector<std::string> keys;
  for (const SimulatedPerson& person : people) keys.push_back(person.fid + "_" + person.iid);
  std::vector<size_t> order(people.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::array<std::string, kLocoRows + 1> lines;
  lines[0] = "FID_IID ";
  for (const size_t i : order) lines[0] += keys[i] + " ";
  tbb::parallel_for(size_t{1}, lines.size(), [&](size_t chromosome) {
    std::string& line = lines[chromosome];
    line = std::to_string(chromosome) + " ";
    const auto prediction = LocoPrediction(request, trait, trait_number, chromosome);
    for (const size_t i : order) {
      AppendSixDigits(prediction[i], line);
      line += ' ';
    }
  });
  std::string out;
  for (std::string& line : lines) {
    out += line + '\n';
    line = {};
  }
  return out;
}

}  // namespace tallele

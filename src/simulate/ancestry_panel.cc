#include "simulate/ancestry_panel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/machine.h"
#include "base/random.h"
#include "genotype/writers/bed_writer.h"
#include "simulate/streams.h"

namespace tallele {
namespace {

constexpr size_t kGroups = 5;  // AFR, EUR, EAS, SAS, NAT
constexpr double kGroupFst = 0.10;
constexpr size_t kSnpsPerBatch = 256;
constexpr int kChromosomes = 22;
enum Group { kAfr, kEur, kEas, kSas, kNat, kAdmixed };
constexpr std::array<Group, 3> kSources = {kEur, kAfr, kNat};

struct Population {
  const char* name;
  int size;
  Group group;
  std::array<double, 3> mean;  // weights of EUR, AFR and NAT in admixed people
  double spread;
};

constexpr Population kPopulations[] = {
    {"ACB", 96, kAdmixed, {.12, .88, 0}, .06},
    {"ASW", 61, kAdmixed, {.22, .76, .02}, .08},
    {"BEB", 86, kSas, {}, 0},
    {"CDX", 93, kEas, {}, 0},
    {"CEUGBR", 100, kEur, {}, 0},
    {"CHB", 103, kEas, {}, 0},
    {"CHS", 105, kEas, {}, 0},
    {"CLM", 94, kAdmixed, {.62, .08, .30}, .12},
    {"ESN", 99, kAfr, {}, 0},
    {"FIN", 99, kEur, {}, 0},
    {"GIH", 103, kSas, {}, 0},
    {"GWD", 113, kAfr, {}, 0},
    {"IBS", 107, kEur, {}, 0},
    {"JPT", 104, kEas, {}, 0},
    {"KHV", 99, kEas, {}, 0},
    {"LWK", 99, kAfr, {}, 0},
    {"MSL", 85, kAfr, {}, 0},
    {"MXL", 64, kAdmixed, {.45, .05, .50}, .15},
    {"PEL", 85, kAdmixed, {.20, .03, .77}, .12},
    {"PJL", 96, kSas, {}, 0},
    {"PUR", 104, kAdmixed, {.67, .20, .13}, .10},
    {"STUITU", 112, kSas, {}, 0},
    {"TSI", 107, kEur, {}, 0},
    {"YRI", 108, kAfr, {}, 0},
};
constexpr size_t kNumPopulations = std::size(kPopulations);

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
double DrawGamma(double shape, RandomStream& random) {
  if (shape < 1) return DrawGamma(shape + 1, random) * std::pow(random.NextUniform(), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.NextNormal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(random.NextUniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

// A frequency that has drifted from `p` by `fst`.
double Drift(double p, double fst, RandomStream& random) {
  const double scale = (1 - fst) / fst;
  const double a = DrawGamma(p * scale, random), b = DrawGamma((1 - p) * scale, random);
  return std::clamp(a / (a + b), 0.001, 0.999);
}

// Frequencies of one SNP: of each population, or of its three sources.
using SnpFrequencies = std::array<std::array<double, 3>, kNumPopulations>;

SnpFrequencies DrawFrequencies(const AncestryPanelRequest& request, size_t snp) {
  RandomStream random(request.seed, StreamOf(Purpose::kPanelFrequencies, snp));
  const double ancestral = 0.05 + 0.9 * random.NextUniform();
  std::array<double, kGroups> groups;
  for (double& p : groups) p = Drift(ancestral, kGroupFst, random);
  SnpFrequencies frequencies{};
  for (size_t k = 0; k < kNumPopulations; ++k) {
    const Group group = kPopulations[k].group;
    if (group == kAdmixed) {
      for (size_t s = 0; s < 3; ++s) {
        frequencies[k][s] = Drift(groups[kSources[s]], request.fst, random);
      }
    } else {
      frequencies[k].fill(Drift(groups[group], request.fst, random));
    }
  }
  return frequencies;
}

struct PanelPerson {
  size_t population = 0;
  std::array<double, 3> weights = {1, 0, 0};  // of its population's frequencies
};

// Everyone, populations mixed.
std::vector<PanelPerson> MakePanel(const AncestryPanelRequest& request) {
  RandomStream random(request.people_seed, StreamOf(Purpose::kPanelPeople, 0));
  std::vector<PanelPerson> people;
  for (size_t k = 0; k < kNumPopulations; ++k) {
    const auto size =
        std::max<int64_t>(1, std::llround(kPopulations[k].size * request.size_factor));
    for (int64_t i = 0; i < size; ++i) {
      PanelPerson person{k};
      if (kPopulations[k].group == kAdmixed) {
        double sum = 0;
        for (size_t s = 0; s < 3; ++s) {
          const double shape = kPopulations[k].mean[s] * 4 / kPopulations[k].spread + 0.05;
          sum += person.weights[s] = DrawGamma(shape, random);
        }
        for (double& weight : person.weights) weight /= sum;
      }
      people.push_back(person);
    }
  }
  for (size_t i = people.size(); i-- > 1;) {
    std::swap(people[i], people[random.NextBelow(static_cast<uint32_t>(i + 1))]);
  }
  return people;
}

// Copies of the first allele.
void DrawCalls(const AncestryPanelRequest& request, const std::vector<PanelPerson>& people,
               size_t snp, std::vector<uint8_t>& calls) {
  const SnpFrequencies frequencies = DrawFrequencies(request, snp);
  RandomStream random(request.people_seed, StreamOf(Purpose::kPanelGenotypes, snp));
  calls.resize(people.size());
  for (size_t i = 0; i < people.size(); ++i) {
    const auto& f = frequencies[people[i].population];
    const auto& w = people[i].weights;
    const double p = w[0] * f[0] + w[1] * f[1] + w[2] * f[2];
    const int copies = (random.NextUniform() < p) + (random.NextUniform() < p);
    calls[i] = random.NextUniform() < request.missing_share ? kMissingHardCall
                                                            : static_cast<uint8_t>(copies);
  }
}

// Letters that are not palindromic, so that strands can be told.
VariantRecord DescribeSnp(const AncestryPanelRequest& request, size_t snp, std::string& chromosome,
                          std::string& id) {
  constexpr const char* kLetters[][2] = {{"A", "G"}, {"C", "T"}, {"G", "A"}, {"T", "C"},
                                         {"A", "C"}, {"G", "T"}, {"C", "A"}, {"T", "G"}};
  const auto& letters = kLetters[snp * 5 % 8];
  const size_t per_chromosome = (request.num_snps + kChromosomes - 1) / kChromosomes;
  const auto position = static_cast<uint32_t>(100000 + 1000 * (snp % per_chromosome));
  chromosome = fmt::format("{}", snp / per_chromosome + 1);
  id = fmt::format("chr{}:{}:{}:{}", chromosome, position, letters[1], letters[0]);
  return {chromosome, position, id, letters[0], letters[1]};
}

Result<void> CheckRequest(const AncestryPanelRequest& r) {
  if (r.num_snps < 1 || r.num_snps > 4000000) {
    return UsageError("--snps must lie between 1 and 4,000,000");
  }
  if (!(r.fst > 0 && r.fst < 0.5)) return UsageError("--fst must lie between 0 and 0.5");
  if (!(r.missing_share >= 0 && r.missing_share < 1)) {
    return UsageError("--missing must lie between 0 and 1");
  }
  if (!(r.size_factor > 0 && r.size_factor <= 1000)) {
    return UsageError("--size-factor must lie above 0 and up to 1,000");
  }
  return {};
}

Result<void> WriteGenotypes(const AncestryPanelRequest& request,
                            const std::vector<PanelPerson>& people, BedWriter& writer,
                            EventSink& events, const CancelToken& cancel) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t first = 0; first < request.num_snps; first += kSnpsPerBatch) {
    if (cancel.cancelled()) {
      Error error;
      error.kind = ErrorKind::kInterrupted;
      error.what = "the simulation was interrupted; no unfinished file was left";
      return error;
    }
    const size_t count = std::min(kSnpsPerBatch, request.num_snps - first);
    std::vector<std::vector<uint8_t>> rows(count);
    tbb::parallel_for(size_t{0}, count, [&](size_t i) {
      std::vector<uint8_t> calls;
      DrawCalls(request, people, first + i, calls);
      AppendBedRow(calls, rows[i]);
    });
    for (size_t i = 0; i < count; ++i) {
      std::string line, chromosome, id;
      AppendBimLine(DescribeSnp(request, first + i, chromosome, id), line);
      TALLELE_TRY(writer.Append(rows[i], line));
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    events.Progress({"SNPs", static_cast<int64_t>(first + count),
                     static_cast<int64_t>(request.num_snps), elapsed.count(),
                     first + count == request.num_snps});
  }
  return writer.Commit();
}

}  // namespace

Result<AncestryPanelSummary> SimulateAncestryPanel(const AncestryPanelRequest& request,
                                                   EventSink& events, const CancelToken& cancel) {
  TALLELE_TRY(CheckRequest(request));
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      request.num_threads > 0 ? request.num_threads : static_cast<size_t>(AvailableProcessors()));
  const std::vector<PanelPerson> people = MakePanel(request);
  std::vector<FamPerson> family;
  std::string labels = "IID\tpopulation\n";
  for (size_t i = 0; i < people.size(); ++i) {
    const std::string name = fmt::format("P{}", i + 1);
    family.push_back({{name, name, Sex::kUnknown}});
    labels += fmt::format("{}\t{}\n", name, kPopulations[people[i].population].name);
  }
  TALLELE_ASSIGN(const auto writer, BedWriter::Create(request.out, family));
  TALLELE_TRY(WriteGenotypes(request, people, *writer, events, cancel));
  TALLELE_TRY(WriteFileAtomically(request.out + "_labels.tsv", labels));
  AncestryPanelSummary summary{people.size(), kNumPopulations, {}};
  for (const char* end : {".bed", ".bim", ".fam", "_labels.tsv"}) {
    summary.files.push_back(request.out + end);
  }
  return summary;
}

}  // namespace tallele

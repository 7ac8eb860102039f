#include "simulate/genotypes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simulate/streams.h"

namespace tallele {
namespace {

SimulationRequest Request() {
  SimulationRequest request;
  request.num_people = 4000;
  request.num_variants = 600;
  request.num_array_variants = 0;
  request.num_chromosomes = 2;
  request.family_share = 0;
  request.num_populations = 1;
  return request;
}

class Cohort {
 public:
  explicit Cohort(const SimulationRequest& request)
      : request_(request),
        people(MakePeople(request)),
        variants(
            MakeVariants(request, request.num_variants, "v", StreamOf(Purpose::kVariants, 0), 0)),
        drawer_(request_, people) {}

  const std::vector<uint8_t>& Draw(size_t v) {
    drawer_.Draw(variants[v], StreamOf(Purpose::kGenotypes, v), workspace_, copies_);
    return copies_;
  }

 private:
  SimulationRequest request_;

 public:
  const std::vector<SimulatedPerson> people;
  const std::vector<SimulatedVariant> variants;

 private:
  GenotypeDrawer drawer_;
  GenotypeDrawer::Workspace workspace_;
  std::vector<uint8_t> copies_;
};

double Mean(const std::vector<uint8_t>& x) {
  double sum = 0;
  for (const uint8_t v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

double SquaredCorrelation(const std::vector<uint8_t>& x, const std::vector<uint8_t>& y) {
  const double mx = Mean(x), my = Mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

// The benchmark needs a stated mix of frequencies: class shares within sampling error, and each
// variant's frequency near the one that it was given.
TEST(Genotypes, FrequenciesAreThoseOfTheMix) {
  SimulationRequest request = Request();
  request.num_populations = 3;
  request.fst = 0.02;
  request.maf_mix = {0.2, 0.3, 0.5};
  Cohort cohort(request);
  double counts[3] = {0, 0, 0};
  for (size_t v = 0; v < cohort.variants.size(); ++v) {
    const double frequency = Mean(cohort.Draw(v)) / 2;
    const double minor = std::min(frequency, 1 - frequency);
    ++counts[minor < 0.01 ? 0 : minor < 0.05 ? 1 : 2];
    // 8,000 haplotypes copy 1,024 founders: both draws add variance.
    const double p = cohort.variants[v].frequency;
    const double error = std::sqrt(p * (1 - p) * (1.0 / 8000 + 1.0 / 8000) * 4);
    EXPECT_NEAR(frequency, p, 5 * error + 0.002) << v;
  }
  EXPECT_NEAR(counts[0] / 600, 0.2, 0.06);
  EXPECT_NEAR(counts[1] / 600, 0.3, 0.07);
  EXPECT_NEAR(counts[2] / 600, 0.5, 0.07);
}

// Neighbours are linked, far variants and other chromosomes are not.
TEST(Genotypes, LinkageFallsWithDistance) {
  SimulationRequest request = Request();
  request.maf_mix = {0, 0, 1};
  Cohort cohort(request);
  double near = 0, far = 0, apart = 0;
  for (size_t v = 0; v < 100; ++v) {
    const std::vector<uint8_t> here = cohort.Draw(v);
    near += SquaredCorrelation(here, cohort.Draw(v + 1)) / 100;
    far += SquaredCorrelation(here, cohort.Draw(v + 180)) / 100;
    apart += SquaredCorrelation(here, cohort.Draw(v + 300)) / 100;
  }
  EXPECT_GT(near, 0.1);
  // Unlinked: 1/4000 in expectation, with shared founders about 1/1000.
  EXPECT_LT(far, 0.005);
  EXPECT_LT(apart, 0.005);
}

// A child has one allele of each parent: with both parents homozygous it is determined.
TEST(Genotypes, ChildrenInheritFromBothParents) {
  SimulationRequest request = Request();
  request.family_share = 1;
  Cohort cohort(request);
  size_t checked = 0;
  for (size_t v = 0; v < cohort.variants.size(); v += 7) {
    const std::vector<uint8_t>& copies = cohort.Draw(v);
    for (size_t i = 0; i < copies.size(); i += 4) {
      for (size_t child = i + 2; child < i + 4; ++child) {
        const int least = (copies[i] == 2) + (copies[i + 1] == 2);
        const int most = 2 - (copies[i] == 0) - (copies[i + 1] == 0);
        ASSERT_GE(copies[child], least) << v;
        ASSERT_LE(copies[child], most) << v;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100'000u);
}

// Hudson's estimate of FST between two populations, from ratio of sums over common variants.
TEST(Genotypes, PopulationsDifferByFst) {
  SimulationRequest request = Request();
  request.num_populations = 2;
  request.fst = 0.05;
  request.maf_mix = {0, 0, 1};
  Cohort cohort(request);
  double between = 0, total = 0;
  for (size_t v = 0; v < cohort.variants.size(); ++v) {
    const std::vector<uint8_t>& copies = cohort.Draw(v);
    double p[2] = {0, 0}, n[2] = {0, 0};
    for (size_t i = 0; i < copies.size(); ++i) {
      p[cohort.people[i].population] += copies[i];
      n[cohort.people[i].population] += 2;
    }
    for (int k = 0; k < 2; ++k) p[k] /= n[k];
    between += (p[0] - p[1]) * (p[0] - p[1]);
    total += p[0] * (1 - p[1]) + p[1] * (1 - p[0]);
  }
  EXPECT_NEAR(between / total, 0.05, 0.015);
}

// Each triple is a distribution, and it agrees with the true genotype for most people.
TEST(Genotypes, ImputedProbabilitiesAreProbabilities) {
  for (const int bits : {8, 16}) {
    SimulationRequest request = Request();
    request.bits = bits;
    Cohort cohort(request);
    const uint32_t top = (1u << bits) - 1;
    std::vector<uint16_t> probabilities;
    std::vector<uint32_t> missing;
    for (size_t v = 0; v < 50; ++v) {
      const std::vector<uint8_t>& copies = cohort.Draw(v);
      ImputeProbabilities(request, v, cohort.variants[v].frequency, copies, probabilities, missing);
      ASSERT_EQ(probabilities.size(), 2 * copies.size());
      size_t certain = 0;
      for (size_t i = 0; i < copies.size(); ++i) {
        const uint32_t two = probabilities[2 * i], one = probabilities[2 * i + 1];
        ASSERT_LE(two + one, top);
        const uint32_t truth[3] = {two, one, top - two - one};
        certain += truth[copies[i]] == top;
      }
      EXPECT_GT(static_cast<double>(certain) / 4000, 0.8);
      EXPECT_TRUE(missing.empty());
    }
  }
}

}  // namespace
}  // namespace tallele

#ifndef TALLELE_SIMULATE_GENOTYPES_H_
#define TALLELE_SIMULATE_GENOTYPES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/population.h"
#include "simulate/simulation_request.h"

namespace tallele {

// Draws true genotypes. Common variants are linked: on each stretch of a chromosome every haplotype
// copies one of its population's founder haplotypes, and children copy their parents'. Rare ones
// (in expectation under 1 %) are drawn on their own and passed on by parents. Thread-safe; what a
// variant's genotypes are depends on the request and the variant alone.
class GenotypeDrawer {
 public:
  GenotypeDrawer(const SimulationRequest& request, const std::vector<SimulatedPerson>& people);

  // Copies of the second allele of everybody, 0 to 2. `number` names the variant's random stream
  // among those of `purpose_stream`.
  void Draw(const SimulatedVariant& variant, uint64_t stream, std::vector<uint8_t>& copies) const;

 private:
  void DrawLinked(const SimulatedVariant& variant, uint64_t stream,
                  std::vector<uint8_t>& copies) const;
  void DrawRare(const SimulatedVariant& variant, uint64_t stream,
                std::vector<uint8_t>& copies) const;
  std::vector<uint8_t> FounderOf(uint32_t chromosome, uint32_t stretch) const;

  const SimulationRequest& request_;
  const std::vector<SimulatedPerson>& people_;
};

// Imputed probabilities of one variant: P(two first alleles) and P(one) of everybody, times
// 2^bits - 1, with uncertainty that grows as the frequency falls. `missing` gets the people without
// a call.
void ImputeProbabilities(const SimulationRequest& request, uint64_t variant, double frequency,
                         std::span<const uint8_t> copies, std::vector<uint16_t>& probabilities,
                         std::vector<uint32_t>& missing);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_GENOTYPES_H_

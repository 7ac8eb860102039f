#ifndef TALLELE_SIMULATE_GENOTYPES_H_
#define TALLELE_SIMULATE_GENOTYPES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/population.h"
#include "simulate/simulation_request.h"

namespace tallele {

// Draws true genotypes. Every haplotype is a mosaic of the same 1024 founder haplotypes, with
// recombinations at places of its own; children inherit their parents' with one crossover on each
// chromosome. Founders' alleles are correlated along the chromosome, so near variants are linked.
// Variants rarer than 1 % in expectation are younger than the founders: drawn on their own, passed
// on by parents. Thread-safe; what a variant's genotypes are depends on the request and the variant
// alone.
class GenotypeDrawer {
 public:
  // Both must outlive the drawer.
  GenotypeDrawer(const SimulationRequest& request, const std::vector<SimulatedPerson>& people);

  // What a thread keeps between variants of one place. One for each thread.
  struct Workspace {
    uint64_t cell = ~uint64_t{0};        // chromosome and place that `sources` is for
    std::vector<uint16_t> sources;       // [2 * person + haplotype]: population, founder copied
    std::vector<uint8_t> source_allele;  // [source]: allele of the variant at hand
  };

  // Copies of the second allele of everybody, 0 to 2. `stream` names the variant's random numbers.
  void Draw(const SimulatedVariant& variant, uint64_t stream, Workspace& workspace,
            std::vector<uint8_t>& copies) const;

 private:
  void DrawLinked(const SimulatedVariant& variant, uint64_t stream, Workspace& workspace,
                  std::vector<uint8_t>& copies) const;
  void DrawRare(const SimulatedVariant& variant, uint64_t stream,
                std::vector<uint8_t>& copies) const;
  void FillSources(uint64_t cell, Workspace& workspace) const;
  uint16_t FounderSource(uint64_t chromosome, uint64_t cell, size_t haplotype) const;
  void FillSourceAlleles(const SimulatedVariant& variant, uint64_t stream,
                         std::vector<uint8_t>& source_allele) const;

  const SimulationRequest& request_;
  const std::vector<SimulatedPerson>& people_;
  uint64_t segment_key_;  // of the hashes that place recombinations and choose founders
  uint64_t founder_key_;  // of the hashes behind the founders' alleles
};

// Imputed probabilities of one variant: P(two first alleles) and P(one) of everybody, times
// 2^bits - 1, with uncertainty that grows as the frequency falls. `missing` gets the people without
// a call.
void ImputeProbabilities(const SimulationRequest& request, uint64_t variant, double frequency,
                         std::span<const uint8_t> copies, std::vector<uint16_t>& probabilities,
                         std::vector<uint32_t>& missing);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_GENOTYPES_H_

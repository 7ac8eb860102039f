#ifndef TALLELE_SIMULATE_POPULATION_H_
#define TALLELE_SIMULATE_POPULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/simulation_request.h"

namespace tallele {

// A simulated person. Families are father, mother and two children, in this order.
struct SimulatedPerson {
  std::string fid;
  std::string iid;
  int sex = 1;
  uint32_t population = 0;
  int32_t father = -1;  // index of the father; the mother is the next person. -1: a founder
};

std::vector<SimulatedPerson> MakePeople(const SimulationRequest& request);

// What a variant is before anybody's genotype is drawn.
struct SimulatedVariant {
  std::string chromosome;
  uint32_t chromosome_number = 1;
  uint32_t position = 0;
  std::string id;
  std::string first_allele;
  std::string second_allele;
  double frequency = 0;  // of the second allele: mean of the populations
  std::vector<float> population_frequency;
};

// Bases of each chromosome: 5,000 for each of its variants, as in dense imputed data, so that
// neighbours are linked in small cohorts too; at most 100 million.
uint32_t ChromosomeLength(const SimulationRequest& request);

// Variants in file order: spread over the chromosomes by position. `prefix` names them, `stream`
// keeps sets of variants apart. With `lowest_frequency` > 0 every minor allele is at least so
// common.
std::vector<SimulatedVariant> MakeVariants(const SimulationRequest& request, size_t count,
                                           const std::string& prefix, uint64_t stream,
                                           double lowest_frequency);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_POPULATION_H_

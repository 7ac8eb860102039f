#ifndef TALLELE_SIMULATE_TRAITS_H_
#define TALLELE_SIMULATE_TRAITS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "simulate/genotypes.h"
#include "simulate/population.h"

namespace tallele {

struct CausalVariant {
  size_t variant = 0;
  double effect = 0;  // per copy of the second allele, in standard deviations of the trait
};

struct SimulatedTrait {
  std::string name;
  bool binary = false;
  std::vector<CausalVariant> causal;
  std::vector<std::vector<float>> genetic;  // [chromosome][person], centred; variance h2 in all
  std::vector<double> values;               // [person]; NaN where the trait has a gap
};

struct SimulatedCovariates {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  // [covariate][person]
  std::vector<std::string> batch;           // [person]; empty without batches
  std::vector<double> score;                // [person], standardised: what traits depend on
};

SimulatedCovariates MakeCovariates(const SimulationRequest& request,
                                   const std::vector<SimulatedPerson>& people);

// Draws causal variants, sums their true genotypes and adds covariates and noise.
std::vector<SimulatedTrait> MakeTraits(const SimulationRequest& request,
                                       const std::vector<SimulatedPerson>& people,
                                       const std::vector<SimulatedVariant>& variants,
                                       const GenotypeDrawer& drawer,
                                       const SimulatedCovariates& covariates);

// A trait's prediction for one chromosome (1-based) on REGENIE's scale: units of the standardised
// residual trait, or of the logit for a binary one.
std::vector<double> LocoPrediction(const SimulationRequest& request, const SimulatedTrait& trait,
                                   size_t trait_number, size_t chromosome);

// Text of <out>_pheno.tsv, _covar.tsv, _truth.tsv and of one LOCO file.
std::string PhenotypeText(const std::vector<SimulatedPerson>& people,
                          const std::vector<SimulatedTrait>& traits);
std::string CovariateText(const std::vector<SimulatedPerson>& people,
                          const SimulatedCovariates& covariates);
std::string TruthText(const std::vector<SimulatedVariant>& variants,
                      const std::vector<SimulatedTrait>& traits);
std::string LocoText(const SimulationRequest& request, const std::vector<SimulatedPerson>& people,
                     const SimulatedTrait& trait, size_t trait_number);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_TRAITS_H_

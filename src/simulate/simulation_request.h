#ifndef TALLELE_SIMULATE_SIMULATION_REQUEST_H_
#define TALLELE_SIMULATE_SIMULATION_REQUEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "genotype/writers/bgen_writer.h"

namespace tallele {

// Who loses their trait values.
enum class TraitGaps : uint8_t {
  kRandom,      // anyone, independently of everything
  kPopulation,  // people of the last population first
};

// Everything that decides the bytes of a simulated cohort, and how to make it. The defaults
// are a cohort for a demonstration: a few seconds on two cores.
struct SimulationRequest {
  std::string out = "cohort";  // prefix of every file
  uint64_t seed = 1;
  size_t num_threads = 0;  // 0: every core; never changes a byte

  // People.
  size_t num_people = 2000;
  double family_share = 0.3;   // share of people who live in families of four
  size_t num_populations = 2;  // at most 32, of equal size
  double fst = 0.01;           // Balding-Nichols distance of each from their common ancestor

  // Imputed variants: <out>.bgen and <out>.sample.
  size_t num_variants = 5000;
  size_t num_chromosomes = 5;  // 1..22, with equal numbers of variants
  // Shares of variants with a minor allele frequency below 0.01, 0.01 to 0.05, and above.
  std::array<double, 3> maf_mix = {0.5, 0.2, 0.3};
  int bits = 8;  // 8 or 16
  BgenCompression compression = BgenCompression::kZlib;
  int compression_level = 1;           // zlib 0..12 (libdeflate), zstd 0..19
  double missing_call_share = 0;       // of the calls of the variants that have any missing
  double missing_variant_share = 0.1;  // of variants, if missing_call_share > 0
  bool embed_sample_ids = true;

  // Typed variants (hard calls, MAF of at least 0.01): <out>_array.bed, .bim, .fam; 0 for none.
  size_t num_array_variants = 2000;
  double array_missing_share = 0.002;

  // Traits QT1.. and BT1..: <out>_pheno.tsv, <out>_truth.tsv.
  size_t num_quantitative = 2;
  size_t num_binary = 1;
  double heritability = 0.4;  // of the trait given covariates; for binary of the liability
  double prevalence = 0.2;    // of binary traits
  size_t num_causal = 50;     // causal variants of each trait
  double causal_min_maf = 0.01;
  size_t num_gapped_traits = 1;  // the last so many traits have missing values
  double gap_share = 0.05;       // of people, for each such trait
  TraitGaps gaps = TraitGaps::kRandom;

  // Covariates: <out>_covar.tsv with age, sex, PC1.. and batch.
  size_t num_pcs = 4;
  size_t num_batches = 3;           // levels of the categorical column; 0 leaves it out
  double covariate_variance = 0.2;  // explained, relative to the rest of the trait (1)

  // Predictions of step 1: <out>_<k>.loco, <out>_pred.list.
  bool write_loco = true;
  double loco_accuracy = 0.5;  // squared correlation of prediction and genetic value
};

// What was written.
struct SimulationSummary {
  std::vector<std::string> files;
  size_t num_people = 0;
  size_t num_variants = 0;
  size_t num_array_variants = 0;
  size_t num_traits = 0;
  double elapsed_seconds = 0;
};

// A usage error that names the field when the request makes no sense.
Result<void> CheckSimulationRequest(const SimulationRequest& request);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_SIMULATION_REQUEST_H_

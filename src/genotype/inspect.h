#ifndef TALLELE_GENOTYPE_INSPECT_H_
#define TALLELE_GENOTYPE_INSPECT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// What a genotype file holds. Counts of calls come from a sample of variants spread evenly over
// the file.
struct GenotypeSummary {
  GenotypeFormat format;
  size_t num_samples = 0;
  size_t num_variants = 0;
  size_t num_multiallelic = 0;  // of all variants
  struct Chromosome {
    std::string label;
    size_t num_variants = 0;
  };
  std::vector<Chromosome> chromosomes;  // by first appearance; runs of one label are joined

  size_t num_decoded = 0;  // variants of the sample that could be decoded
  size_t num_phased = 0;
  size_t num_with_haploid = 0;
  size_t num_high_ploidy = 0;
  std::vector<int> bits;     // depths seen, ascending; 0 stands for hard calls
  double missing_share = 0;  // of calls in the decoded variants
};

Result<GenotypeSummary> InspectGenotypes(const GenotypeSource& source, size_t variants_to_decode);

// Opens `path` as what its name and first bytes say: BGEN, or a PLINK 1 fileset (.bed, .bim, .fam
// or their common prefix).
Result<std::unique_ptr<GenotypeSource>> OpenGenotypes(const std::string& path);

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_INSPECT_H_

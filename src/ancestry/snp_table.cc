#include "ancestry/snp_table.h"

#include <unordered_map>

#include <fmt/format.h>

namespace tallele {

std::string BimPathOf(const std::string& dataset_path) { return dataset_path + ".bim"; }

Result<ModelSnps> SnpsOfVariants(const VariantIndex& variants, const std::string& where) {
  ModelSnps snps;
  std::unordered_map<std::string, size_t> seen;
  for (size_t v = 0; v < variants.size(); ++v) {
    const VariantRecord r = variants[v];
    std::string name(r.id);
    if (name.empty() || name == ".") {
      name = fmt::format("{}:{}:{}:{}", r.chromosome, r.position, r.first_allele, r.second_allele);
    }
    if (const auto [at, added] = seen.try_emplace(name, v); !added) {
      Error error = InputError("a SNP name stands twice", where,
                               "A dataset needs one name for each SNP: remove duplicates or "
                               "rename them, for instance to chrom:position:alleles.");
      error.found = fmt::format("{} as variants {} and {}", name, at->second + 1, v + 1);
      return error;
    }
    snps.names.push_back(std::move(name));
    snps.chromosomes.emplace_back(r.chromosome);
    snps.positions.push_back(r.position);
    snps.counted_alleles.emplace_back(r.first_allele);
    snps.other_alleles.emplace_back(r.second_allele);
  }
  return snps;
}

std::string BimText(const ModelSnps& snps) {
  std::string text;
  for (size_t j = 0; j < snps.size(); ++j) {
    text += fmt::format("{}\t{}\t0\t{}\t{}\t{}\n", snps.chromosomes[j], snps.names[j],
                        snps.positions[j], snps.counted_alleles[j], snps.other_alleles[j]);
  }
  return text;
}

}  // namespace tallele

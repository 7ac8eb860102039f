#ifndef TALLELE_ANCESTRY_SNP_TABLE_H_
#define TALLELE_ANCESTRY_SNP_TABLE_H_

#include <string>

#include "ancestry/model/package.h"
#include "base/result.h"
#include "genotype/variant_index.h"

namespace tallele {

// Path of a dataset's SNP table: the dataset's name plus ".bim".
std::string BimPathOf(const std::string& dataset_path);

// The SNPs of a genotype file whose counted allele is the first one. Names are the file's
// identifiers; "." becomes chrom:position:counted:other. An error if a name stands twice.
Result<ModelSnps> SnpsOfVariants(const VariantIndex& variants, const std::string& where);

// A .bim whose column 5 is the counted allele, column 6 the other one.
std::string BimText(const ModelSnps& snps);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_SNP_TABLE_H_

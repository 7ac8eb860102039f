#ifndef TALLELE_GENOTYPE_BED_PLINK_TABLES_H_
#define TALLELE_GENOTYPE_BED_PLINK_TABLES_H_

#include <string>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"
#include "genotype/variant_index.h"

namespace tallele::bed {

// A .bim file: chromosome, identifier, centimorgans (not used), position, first allele, second
// allele on each line, split at any run of blanks and tabs; plain or gzip.
Result<VariantIndex> ReadBim(const std::string& path, FileEnv& env = PosixFileEnv());

// A .fam file: FID, IID, father, mother, sex (1 male, 2 female, else unknown), then anything.
Result<std::vector<SampleIdentity>> ReadFam(const std::string& path, FileEnv& env = PosixFileEnv());

// `prefix` + `extension`, or the same with ".gz" where only that exists. An error names both.
Result<std::string> FindCompanion(const std::string& prefix, const std::string& extension);

}  // namespace tallele::bed

#endif  // TALLELE_GENOTYPE_BED_PLINK_TABLES_H_

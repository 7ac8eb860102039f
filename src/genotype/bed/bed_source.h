#ifndef TALLELE_GENOTYPE_BED_BED_SOURCE_H_
#define TALLELE_GENOTYPE_BED_BED_SOURCE_H_

#include <memory>
#include <string>

#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Opens a PLINK 1 fileset: `path` is the .bed file or the common prefix. The .bim and .fam
// files stand beside it, plain or as .bim.gz and .fam.gz. Genotypes come with D = 1; the
// first allele is column 5 of the .bim file. Errors: a companion that is absent or does not
// parse, wrong magic bytes, a sample-major file, a size that does not fit people x variants.
// `events` may be null.
Result<std::unique_ptr<GenotypeSource>> OpenBed(const std::string& path, EventSink* events,
                                                FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_BED_BED_SOURCE_H_

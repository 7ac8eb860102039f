#ifndef TALLELE_GENOTYPE_WRITERS_SAMPLE_WRITER_H_
#define TALLELE_GENOTYPE_WRITERS_SAMPLE_WRITER_H_

#include <span>
#include <string>

#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Writes an Oxford sample file: "ID_1 ID_2 missing sex", the line of column types, and one
// line a person with FID, IID, 0 and sex (1 male, 2 female, NA unknown).
Result<void> WriteOxfordSample(const std::string& path, std::span<const SampleIdentity> people);

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_WRITERS_SAMPLE_WRITER_H_

#ifndef TALLELE_ANCESTRY_BGEN_CALLS_H_
#define TALLELE_ANCESTRY_BGEN_CALLS_H_

#include <memory>
#include <string>

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

Result<std::unique_ptr<GenotypeSource>> OpenBgenForCalls(const std::string& path,
                                                         EventSink* events);

// Decodes every variant once and writes PLINK 1 codes, variant by variant without a header, to
// `scratch`; the file's name is gone when this returns, its content when the file is closed. A call
// is the genotype whose probability is at least `min_probability`, else missing; so are variants
// with other than two alleles or more than two copies. Haploid calls count as two copies or none.
Result<std::unique_ptr<ReadableFile>> WriteBgenCalls(const GenotypeSource& source,
                                                     double min_probability,
                                                     const std::string& scratch, EventSink& events,
                                                     const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_BGEN_CALLS_H_

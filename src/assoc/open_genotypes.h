#ifndef TALLELE_ASSOC_OPEN_GENOTYPES_H_
#define TALLELE_ASSOC_OPEN_GENOTYPES_H_

#include <memory>
#include <string>

#include "assoc/scan_request.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Opens the one genotype file that the request names. Errors: none or several files named, and
// those of the file.
Result<std::shared_ptr<const GenotypeSource>> OpenGenotypes(const ScanRequest& request,
                                                            EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ASSOC_OPEN_GENOTYPES_H_

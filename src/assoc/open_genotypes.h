#ifndef TALLELE_ASSOC_OPEN_GENOTYPES_H_
#define TALLELE_ASSOC_OPEN_GENOTYPES_H_

#include <memory>
#include <string>
#include <vector>

#include "assoc/scan_request.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

struct OpenedGenotypes {
  std::shared_ptr<const GenotypeSource> source;
  std::vector<SampleIdentity> samples;  // in file order
};

// Opens the one genotype file that the request names, and its people: from --sample, else from
// the file itself. Errors: none or several files named, no identities anywhere, numbers of people
// that differ.
Result<OpenedGenotypes> OpenGenotypes(const ScanRequest& request, EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ASSOC_OPEN_GENOTYPES_H_

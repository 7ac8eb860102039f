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

// Keeps the genotype file that was opened last, so that runs of one process index it once.
class GenotypeCache {
 public:
  // The kept source, if it was opened under this name and the file has not changed.
  std::shared_ptr<const GenotypeSource> Find(const std::string& name) const;
  void Keep(std::string name, std::shared_ptr<const GenotypeSource> source);

 private:
  std::string name_;
  std::shared_ptr<const GenotypeSource> source_;
};

// Opens the one genotype file that the request names, and its people: from --sample, else from
// the file itself. Errors: none or several files named, no identities anywhere, numbers of people
// that differ.
Result<OpenedGenotypes> OpenGenotypes(const ScanRequest& request, EventSink& events);

}  // namespace tallele

#endif  // TALLELE_ASSOC_OPEN_GENOTYPES_H_

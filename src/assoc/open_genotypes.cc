#include "assoc/open_genotypes.h"

#include "cohort/sample_file.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bgen/bgen_source.h"

namespace tallele {

Result<OpenedGenotypes> OpenGenotypes(const ScanRequest& request, EventSink& events) {
  if (request.bgen.empty() == request.bed.empty()) {
    return UsageError(
        request.bgen.empty() ? "no genotype file given" : "more than one genotype file given",
        "Name exactly one with --bgen or --bed.");
  }
  OpenedGenotypes opened;
  if (!request.bed.empty()) {
    TALLELE_ASSIGN(opened.source, OpenBed(request.bed, &events));
  } else {
    BgenOptions options;
    options.bgi = request.bgi;
    options.events = &events;
    TALLELE_ASSIGN(opened.source, OpenBgen(request.bgen, options));
  }
  TALLELE_ASSIGN(opened.samples, ResolveSamples(*opened.source, request.sample));
  return opened;
}

}  // namespace tallele

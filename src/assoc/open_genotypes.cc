#include "assoc/open_genotypes.h"

#include "assoc/batch_inputs.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bgen/bgen_source.h"

namespace tallele {

namespace {

Result<std::unique_ptr<GenotypeSource>> OpenSource(const ScanRequest& request, EventSink& events) {
  if (!request.bed.empty()) return OpenBed(request.bed, &events, InputEnv(request));
  BgenOptions options;
  options.bgi = request.bgi;
  options.events = &events;
  options.env = &InputEnv(request);
  return OpenBgen(request.bgen, options);
}

}  // namespace

Result<std::shared_ptr<const GenotypeSource>> OpenGenotypes(const ScanRequest& request,
                                                            EventSink& events) {
  if (request.bgen.empty() == request.bed.empty()) {
    return UsageError(
        request.bgen.empty() ? "no genotype file given" : "more than one genotype file given",
        "Name exactly one with --bgen or --bed.");
  }
  BatchInputs* batch = request.batch_inputs.get();
  std::shared_ptr<const GenotypeSource> source;
  if (batch != nullptr) source = batch->FindSource(request);
  if (!source) {
    TALLELE_ASSIGN(source, OpenSource(request, events));
  }
  if (batch != nullptr) batch->KeepSource(request, source);
  return source;
}

}  // namespace tallele

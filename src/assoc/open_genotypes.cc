#include "assoc/open_genotypes.h"

#include "assoc/batch_inputs.h"
#include "cohort/sample_file.h"
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

Result<OpenedGenotypes> OpenGenotypes(const ScanRequest& request, EventSink& events) {
  if (request.bgen.empty() == request.bed.empty()) {
    return UsageError(
        request.bgen.empty() ? "no genotype file given" : "more than one genotype file given",
        "Name exactly one with --bgen or --bed.");
  }
  OpenedGenotypes opened;
  BatchInputs* batch = request.batch_inputs.get();
  if (batch != nullptr) opened.source = batch->FindSource(request);
  if (!opened.source) {
    TALLELE_ASSIGN(opened.source, OpenSource(request, events));
  }
  if (batch != nullptr) batch->KeepSource(request, opened.source);
  TALLELE_ASSIGN(opened.samples, ResolveSamples(*opened.source, request.sample, InputEnv(request)));
  return opened;
}

}  // namespace tallele

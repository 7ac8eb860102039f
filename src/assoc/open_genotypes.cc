#include "assoc/open_genotypes.h"

#include "cohort/sample_file.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bgen/bgen_source.h"

namespace tallele {

namespace {

Result<std::unique_ptr<GenotypeSource>> OpenSource(const ScanRequest& request, EventSink& events) {
  if (!request.bed.empty()) return OpenBed(request.bed, &events);
  BgenOptions options;
  options.bgi = request.bgi;
  options.events = &events;
  return OpenBgen(request.bgen, options);
}

}  // namespace

std::shared_ptr<const GenotypeSource> GenotypeCache::Find(const std::string& name) const {
  return source_ && name_ == name && source_->CheckUnchanged().ok() ? source_ : nullptr;
}

void GenotypeCache::Keep(std::string name, std::shared_ptr<const GenotypeSource> source) {
  name_ = std::move(name);
  source_ = std::move(source);
}

Result<OpenedGenotypes> OpenGenotypes(const ScanRequest& request, EventSink& events) {
  if (request.bgen.empty() == request.bed.empty()) {
    return UsageError(
        request.bgen.empty() ? "no genotype file given" : "more than one genotype file given",
        "Name exactly one with --bgen or --bed.");
  }
  // The tables of a PLINK fileset may change without the .bed file: those are read each time.
  const bool can_be_kept = request.genotype_cache != nullptr && request.bed.empty();
  const std::string name = request.bgen + "\n" + request.bgi;
  OpenedGenotypes opened;
  if (can_be_kept) opened.source = request.genotype_cache->Find(name);
  if (!opened.source) {
    TALLELE_ASSIGN(opened.source, OpenSource(request, events));
    if (can_be_kept) request.genotype_cache->Keep(name, opened.source);
  }
  TALLELE_ASSIGN(opened.samples, ResolveSamples(*opened.source, request.sample));
  return opened;
}

}  // namespace tallele

#ifndef TALLELE_SIMULATE_ANCESTRY_PANEL_H_
#define TALLELE_SIMULATE_ANCESTRY_PANEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// A panel of the 24 populations of the 1000 Genomes Project, after Balding and Nichols: each SNP
// has an ancestral frequency, five continental groups drift from it, and populations from their
// group; six admixed populations mix three groups in proportions of each person. SNPs are
// independent.
struct AncestryPanelRequest {
  std::string out = "panel";  // prefix of .bed, .bim, .fam and _labels.tsv
  uint64_t seed = 1;          // of the frequencies
  uint64_t people_seed = 1;   // of the people: other ones from the same populations
  size_t num_snps = 5000;
  double fst = 0.006;           // of populations from their group; groups have 0.10
  double missing_share = 0.01;  // of calls
  double size_factor = 1;       // times the panel's 2,322 people
  size_t num_threads = 0;       // 0: all; never changes a byte
};

struct AncestryPanelSummary {
  size_t num_people = 0;
  size_t num_populations = 0;
  std::vector<std::string> files;
};

Result<AncestryPanelSummary> SimulateAncestryPanel(const AncestryPanelRequest& request,
                                                   EventSink& events, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_SIMULATE_ANCESTRY_PANEL_H_

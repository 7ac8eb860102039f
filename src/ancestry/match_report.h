#ifndef TALLELE_ANCESTRY_MATCH_REPORT_H_
#define TALLELE_ANCESTRY_MATCH_REPORT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ancestry/match.h"
#include "base/result.h"

namespace tallele {

struct MatchReport {
  const ModelSnps& snps;
  std::span<const double> means;
  const std::vector<SnpMatch>& matches;
  const VariantIndex& variants;
};

// A line for each model SNP (docs/formats/packed-store.md).
Result<void> WriteMatchReport(const MatchReport& report, const std::string& path);

std::string MatchSummaryJson(const MatchSummary& summary);
// Back from MatchSummaryJson; nothing for any other text.
std::optional<MatchSummary> ParseMatchSummary(const std::string& json);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MATCH_REPORT_H_

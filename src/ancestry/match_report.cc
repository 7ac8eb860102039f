#include "ancestry/match_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/format_number.h"

namespace tallele {
namespace {

const char* StatusOf(const SnpMatch& match) {
  switch (match.state) {
    case SnpMatch::State::kAbsent:
      return "absent";
    case SnpMatch::State::kMismatch:
      return "mismatch";
    case SnpMatch::State::kAmbiguousDropped:
      return "ambiguous_dropped";
    case SnpMatch::State::kMatched:
      break;
  }
  switch (match.alleles.fit) {
    case AlleleFit::kExact:
      return "exact";
    case AlleleFit::kSwapped:
      return "swapped";
    case AlleleFit::kFlipped:
      return "flipped";
    case AlleleFit::kFlippedSwapped:
      return "flipped_swapped";
    case AlleleFit::kOneAllele:
      return "one_allele";
    case AlleleFit::kMismatch:
      break;
  }
  return "mismatch";
}

std::string NumberOrNa(bool known, double value) {
  return known && value == value ? FormatSixDigits(value) : "NA";
}

std::string CohortColumns(const SnpMatch& match, const VariantIndex& variants) {
  if (match.state == SnpMatch::State::kAbsent) return "NA\tNA\tNA\tNA\tNA\tNA";
  const VariantRecord r = variants[match.variant];
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", match.by_position ? "position" : "id",
                     match.variant + 1, r.id, r.position, r.first_allele, r.second_allele);
}

}  // namespace

Result<void> WriteMatchReport(const MatchReport& report, const std::string& path) {
  TALLELE_ASSIGN(const auto file, AtomicFile::Create(path));
  TALLELE_TRY(file->Append(
      std::string_view("snp\tchrom\tposition\tcounted\tother\tstatus\tpalindromic\tcandidates\t"
                       "found_by\tcohort_row\tcohort_id\tcohort_position\tcohort_a1\tcohort_a2\t"
                       "model_mean\tcohort_mean\tmissing_rate\n")));
  for (size_t j = 0; j < report.matches.size(); ++j) {
    const SnpMatch& match = report.matches[j];
    const double people = static_cast<double>(match.counts.observed() + match.counts.of[3]);
    TALLELE_TRY(file->Append(std::string_view(
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", report.snps.names[j],
                    report.snps.chromosomes[j], report.snps.positions[j],
                    report.snps.counted_alleles[j], report.snps.other_alleles[j], StatusOf(match),
                    match.alleles.palindromic ? 1 : 0, match.num_candidates,
                    CohortColumns(match, report.variants), NumberOrNa(true, report.means[j]),
                    NumberOrNa(match.counts.observed() > 0, match.counts.mean()),
                    NumberOrNa(people > 0, static_cast<double>(match.counts.of[3]) / people)))));
  }
  return file->Commit();
}

std::string MatchSummaryJson(const MatchSummary& s) {
  nlohmann::ordered_json json;
  json["people"] = s.num_people;
  json["model_snps"] = s.num_model_snps;
  json["matched"] = s.num_matched;
  json["exact"] = s.num_exact;
  json["swapped"] = s.num_swapped;
  json["flipped"] = s.num_flipped;
  json["one_allele"] = s.num_one_allele;
  json["ambiguous"] = s.num_ambiguous;
  json["ambiguous_dropped"] = s.num_ambiguous_dropped;
  json["mismatch"] = s.num_mismatch;
  json["absent"] = s.num_absent;
  json["several_candidates"] = s.num_several;
  json["found_by_id"] = s.num_by_id;
  json["other_position"] = s.num_other_position;
  json["scale"] = s.scale;
  if (s.correlation) json["correlation"] = *s.correlation;
  json["findings"] = s.findings;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tallele

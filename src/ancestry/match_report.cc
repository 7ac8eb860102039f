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

struct SummaryCount {
  const char* name;
  size_t MatchSummary::* count;
};
constexpr SummaryCount kSummaryCounts[] = {
    {"people", &MatchSummary::num_people},
    {"model_snps", &MatchSummary::num_model_snps},
    {"matched", &MatchSummary::num_matched},
    {"exact", &MatchSummary::num_exact},
    {"swapped", &MatchSummary::num_swapped},
    {"flipped", &MatchSummary::num_flipped},
    {"one_allele", &MatchSummary::num_one_allele},
    {"ambiguous", &MatchSummary::num_ambiguous},
    {"ambiguous_dropped", &MatchSummary::num_ambiguous_dropped},
    {"mismatch", &MatchSummary::num_mismatch},
    {"absent", &MatchSummary::num_absent},
    {"several_candidates", &MatchSummary::num_several},
    {"found_by_id", &MatchSummary::num_by_id},
    {"other_position", &MatchSummary::num_other_position},
};

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
  for (const SummaryCount& field : kSummaryCounts) json[field.name] = s.*field.count;
  json["scale"] = s.scale;
  if (s.correlation) json["correlation"] = *s.correlation;
  json["findings"] = s.findings;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<MatchSummary> ParseMatchSummary(const std::string& text) try {
  const auto json = nlohmann::json::parse(text);
  MatchSummary s;
  for (const SummaryCount& field : kSummaryCounts) json.at(field.name).get_to(s.*field.count);
  json.at("scale").get_to(s.scale);
  if (json.contains("correlation")) s.correlation = json.at("correlation").get<double>();
  json.at("findings").get_to(s.findings);
  return s;
} catch (const nlohmann::json::exception&) {
  return {};
}

}  // namespace tallele

#include "ancestry/match.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/match_report.h"
#include "ancestry/model/matched_store.h"
#include "ancestry/reference_build.h"
#include "base/format_number.h"
#include "base/hashing.h"
#include "genotype/bed/plink_tables.h"
#include "genotype/packed/packed_store.h"

namespace tallele {
namespace {

constexpr double kThroughout = 0.95;  // so large a share is "throughout"
constexpr size_t kFewestForCorrelation = 10;
constexpr char kInputsSection[] = "inputs";

// Mean genotypes of the model: of its folds' training people.
std::vector<double> ModelMeans(const std::vector<ModelPackage>& packages) {
  std::set<const FoldInputs*> folds;
  for (const ModelPackage& package : packages) folds.insert(package.inputs.get());
  std::vector<double> means(packages.front().inputs->num_snps(), 0);
  for (const FoldInputs* fold : folds) {
    for (size_t j = 0; j < means.size(); ++j) {
      means[j] += fold->means[j] / static_cast<double>(folds.size());
    }
  }
  return means;
}

// Pearson's correlation of the model's and the cohort's means over matched SNPs; nothing when too
// few SNPs vary.
std::optional<double> Correlate(std::span<const double> means,
                                const std::vector<SnpMatch>& matches) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t j = 0; j < matches.size(); ++j) {
    if (matches[j].state != SnpMatch::State::kMatched || matches[j].counts.observed() == 0)
      continue;
    if (!std::isfinite(means[j])) continue;
    const double a = means[j] - 1, b = matches[j].counts.mean() - 1;
    n += 1, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const double vx = xx - x * x / n, vy = yy - y * y / n;
  if (n < kFewestForCorrelation || !(vx > 1e-12 && vy > 1e-12)) return {};
  return (xy - x * y / n) / std::sqrt(vx * vy);
}

void CountMatch(const SnpMatch& match, MatchSummary& s) {
  s.num_absent += match.state == SnpMatch::State::kAbsent;
  s.num_mismatch += match.state == SnpMatch::State::kMismatch;
  s.num_ambiguous_dropped += match.state == SnpMatch::State::kAmbiguousDropped;
  if (match.state != SnpMatch::State::kMatched) return;
  ++s.num_matched;
  s.num_exact += match.alleles.fit == AlleleFit::kExact;
  s.num_swapped += match.alleles.fit == AlleleFit::kSwapped;
  s.num_flipped +=
      match.alleles.fit == AlleleFit::kFlipped || match.alleles.fit == AlleleFit::kFlippedSwapped;
  s.num_one_allele += match.alleles.fit == AlleleFit::kOneAllele;
  s.num_ambiguous += match.alleles.palindromic;
  s.num_several += match.num_candidates > 1;
  s.num_by_id += !match.by_position;
  s.num_other_position += match.position_differs;
}

MatchSummary Summarise(const std::vector<SnpMatch>& matches, const CallColumns& calls) {
  MatchSummary s;
  s.num_people = calls.num_people();
  s.num_model_snps = matches.size();
  for (const SnpMatch& match : matches) CountMatch(match, s);
  if (s.num_matched > 0) {
    s.scale = static_cast<double>(s.num_model_snps) / static_cast<double>(s.num_matched);
  }
  return s;
}

double Share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Builds of model and cohort in words, where they can be told.
std::string BuildWords(const ModelSnps& snps, const VariantIndex& variants) {
  BuildGuess model, cohort;
  for (size_t j = 0; j < snps.size(); ++j) {
    model.Add(snps.names[j], snps.chromosomes[j], snps.positions[j]);
  }
  for (size_t v = 0; v < variants.size(); ++v) {
    cohort.Add(variants[v].id, variants[v].chromosome, variants[v].position);
  }
  if (cohort.Name().empty()) return {};
  return fmt::format("The cohort looks like {}{}.", cohort.Name(),
                     model.Name().empty() ? "" : ", the model like " + model.Name());
}

void Diagnose(const MatchRequest& request, const ModelSnps& snps, const VariantIndex& variants,
              MatchSummary& s) {
  const std::string build = BuildWords(snps, variants);
  if (!build.empty()) s.findings.push_back(build);
  if (s.num_other_position > 0) {
    s.findings.push_back(
        fmt::format("{} SNPs were found by identifier at another position: the cohort is likely "
                    "on another genome build than the model.",
                    s.num_other_position));
  }
  const double swapped = Share(s.num_swapped, s.num_matched);
  if (swapped >= kThroughout) {
    s.findings.emplace_back(
        "A1 and A2 are swapped throughout, as when A1 is the reference allele; mended.");
  } else if (swapped > request.warn_swapped_share) {
    s.findings.push_back(
        fmt::format("A1 and A2 are swapped at {:.1f} % of matched SNPs; mended.", 100 * swapped));
  }
  const double flipped = Share(s.num_flipped, s.num_matched);
  if (flipped > request.warn_swapped_share) {
    s.findings.push_back(fmt::format(
        "{:.1f} % of matched SNPs are on the other strand; mended, but A/T and C/G SNPs cannot be "
        "seen: use --ambiguous drop or freq.",
        100 * flipped));
  }
  if (s.num_matched < 1000) {
    s.findings.push_back(fmt::format(
        "Only {} of the model's SNPs were matched: predictions from fewer than 1,000 should be "
        "disregarded.",
        s.num_matched));
  }
}

std::string Words(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += (text.empty() ? "" : " ") + finding;
  return text;
}

Result<void> RefuseMismatches(const MatchRequest& request, const MatchSummary& s,
                              const std::string& where) {
  const size_t shared = s.num_matched + s.num_mismatch + s.num_ambiguous_dropped - s.num_by_id;
  if (s.num_matched == 0) {
    Error error = InputError("no SNP of the model is in the cohort", where,
                             Words(s.findings) + " See the report in the work directory.");
    error.found = fmt::format("{} at the model's positions with other alleles", s.num_mismatch);
    return error;
  }
  if (Share(s.num_mismatch, shared) <= request.max_mismatch_share) return {};
  Error error = InputError("too many SNPs have other alleles than the model's", where,
                           Words(s.findings) +
                               " The cohort is likely on another genome build; if not, raise "
                               "--max-mismatch.");
  error.found = fmt::format("{} of {} shared positions", s.num_mismatch, shared);
  error.expected = fmt::format("at most {:.3g} %", 100 * request.max_mismatch_share);
  return error;
}

Result<void> RefuseFrequencies(const MatchRequest& request, const MatchSummary& s,
                               const std::string& where) {
  if (!s.correlation || *s.correlation >= request.min_correlation) return {};
  Error error = NumericError(
      "the cohort's allele frequencies do not follow the model's", where,
      *s.correlation < 0 ? "They run the other way: the alleles of the model or of the cohort are "
                           "likely swapped throughout."
                         : "See the report; --min-correlation changes the limit.");
  error.found = fmt::format("a correlation of {:.3f}", *s.correlation);
  error.expected = fmt::format("at least {:.3g}", request.min_correlation);
  return error;
}

std::vector<CallColumn> ColumnsOf(const std::vector<SnpMatch>& matches,
                                  std::vector<uint32_t>& model_snps) {
  std::vector<CallColumn> columns;
  for (size_t j = 0; j < matches.size(); ++j) {
    if (matches[j].state != SnpMatch::State::kMatched) continue;
    columns.push_back({matches[j].variant, matches[j].alleles.use});
    model_snps.push_back(static_cast<uint32_t>(j));
  }
  return columns;
}

// SHA-256 of everything that decides a match; block sizes and threads do not.
Result<std::string> InputsIdentity(const ModelSnps& snps, std::span<const double> means,
                                   const MatchRequest& request) {
  std::vector<std::string> files;
  if (!request.calls.bgen.empty()) {
    files = {request.calls.bgen};
    if (!request.calls.sample.empty()) files.push_back(request.calls.sample);
  } else {
    std::string prefix = request.calls.plink;
    if (prefix.ends_with(".bed")) prefix.resize(prefix.size() - 4);
    files = {prefix + ".bed"};
    for (const char* extension : {".bim", ".fam"}) {
      TALLELE_ASSIGN(std::string companion, bed::FindCompanion(prefix, extension));
      files.push_back(std::move(companion));
    }
  }
  std::string text = fmt::format(
      "match 1\n{}\n{} {} {} {}\n", snps.Identity(), static_cast<int>(request.ambiguous),
      FormatExactly(request.max_mismatch_share), FormatExactly(request.warn_swapped_share),
      FormatExactly(request.min_correlation));
  if (!request.calls.bgen.empty()) text += FormatExactly(request.calls.min_call_probability) + "\n";
  if (request.calls.allow_duplicate_people) text += "duplicate people\n";
  for (const std::string& file : files) {
    TALLELE_ASSIGN(const FileIdentity f, PosixFileEnv().Identity(file));
    text += fmt::format("{} {} {} {}\n", f.size, f.inode, f.modified_ns, f.changed_ns);
  }
  for (const double mean : means) text += FormatExactly(mean) + "\n";
  return Sha256Hex(text);
}

// One cohort and one model on their way through `match`.
class MatchRun {
 public:
  MatchRun(const ModelSnps& snps, std::vector<double> means, const MatchRequest& request,
           const CallColumns& calls, std::string inputs)
      : snps_(snps),
        means_(std::move(means)),
        request_(request),
        calls_(calls),
        inputs_(std::move(inputs)) {}

  Result<MatchSummary> Run(EventSink& events, const CancelToken& cancel) {
    const std::string& where = calls_.source().path();
    const std::string store = request_.work_dir + "/" + kMatchedStoreName;
    // An earlier match must not pass for this one if this one is refused.
    if (PosixFileEnv().Identity(store)) TALLELE_TRY(PosixFileEnv().Remove(store));
    TALLELE_ASSIGN(matches_, MatchSnps(snps_, means_, calls_, request_.ambiguous));
    summary_ = Summarise(matches_, calls_);
    Diagnose(request_, snps_, calls_.source().variants(), summary_);
    for (const std::string& finding : summary_.findings) {
      events.Message(Severity::kWarning, finding);
    }
    if (const auto refused = RefuseMismatches(request_, summary_, where); !refused.ok()) {
      TALLELE_TRY(WriteReports());
      return refused.error();
    }
    std::vector<uint32_t> model_snps;
    const std::vector<CallColumn> columns = ColumnsOf(matches_, model_snps);
    TALLELE_ASSIGN(PackedStoreWriter writer,
                   PackedStoreWriter::Create(store, calls_.num_people(), columns.size()));
    std::vector<CodeCounts> counts;
    const auto sink = [&](size_t, size_t, std::span<uint8_t> rows) { return writer.Append(rows); };
    TALLELE_TRY(StreamRows(calls_, columns, request_.rows, events, cancel, &counts, sink));
    for (size_t k = 0; k < counts.size(); ++k) matches_[model_snps[k]].counts = counts[k];
    summary_.correlation = Correlate(means_, matches_);
    TALLELE_TRY(WriteReports());
    TALLELE_TRY(RefuseFrequencies(request_, summary_, where));
    auto sections = MatchedSections(
        {People(), model_snps, snps_.Identity(), request_.calls.allow_duplicate_people});
    sections["kind"] = "matched";
    sections["summary"] = MatchSummaryJson(summary_);
    sections["source"] = where;
    sections[kInputsSection] = inputs_;
    TALLELE_TRY(writer.Commit(sections));
    return summary_;
  }

 private:
  std::vector<CohortPerson> People() const {
    std::vector<CohortPerson> people;
    for (const SampleIdentity& p : calls_.people()) people.push_back({p.fid, p.iid});
    return people;
  }

  Result<void> WriteReports() const {
    TALLELE_TRY(
        WriteFileAtomically(request_.work_dir + "/match_summary.json", MatchSummaryJson(summary_)));
    return WriteMatchReport({snps_, means_, matches_, calls_.source().variants()},
                            request_.work_dir + "/match_report.tsv");
  }

  const ModelSnps& snps_;
  std::vector<double> means_;
  const MatchRequest& request_;
  const CallColumns& calls_;
  std::string inputs_;
  std::vector<SnpMatch> matches_;
  MatchSummary summary_;
};

}  // namespace

Result<MatchSummary> MatchCohort(const std::vector<ModelPackage>& packages,
                                 const MatchRequest& request, EventSink& events,
                                 const CancelToken& cancel) {
  if (request.work_dir.empty()) return UsageError("match needs --work-dir");
  if (packages.empty()) return UsageError("match needs a model");
  const ModelSnps& snps = packages.front().inputs->snps;
  if (!snps.has_alleles()) {
    return InputError("the model's packages do not say which alleles they count",
                      packages.front().path,
                      "Import them again with --bim FILE, or with --counted-allele first or last "
                      "when names look like chr1:12345:A:G.");
  }
  TALLELE_TRY(PosixFileEnv().CreateFolders(request.work_dir));
  CallSourceRequest source = request.calls;
  source.scratch = request.work_dir + "/calls.tmp";
  std::vector<double> means = ModelMeans(packages);
  // Taken before the files are read, so that a change in between is seen by FindEarlierMatch. What
  // is wrong with them is better said by Open.
  Result<std::string> inputs = InputsIdentity(snps, means, request);
  TALLELE_ASSIGN(const CallColumns calls, CallColumns::Open(source, events, cancel));
  if (!inputs) return std::move(inputs).error();
  return MatchRun(snps, std::move(means), request, calls, *std::move(inputs)).Run(events, cancel);
}

Result<std::optional<MatchSummary>> FindEarlierMatch(const std::vector<ModelPackage>& packages,
                                                     const MatchRequest& request) {
  if (packages.empty()) return UsageError("match needs a model");
  const auto store = PackedStore::Open(request.work_dir + "/" + kMatchedStoreName);
  if (!store) return std::optional<MatchSummary>();
  TALLELE_ASSIGN(const std::string inputs,
                 InputsIdentity(packages.front().inputs->snps, ModelMeans(packages), request));
  const auto of_store = store->Section(kInputsSection);
  const auto summary = store->Section("summary");
  if (!of_store || *of_store != inputs || !summary) return std::optional<MatchSummary>();
  return ParseMatchSummary(*summary);
}

}  // namespace tallele

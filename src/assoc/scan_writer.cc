#include "assoc/scan_writer.h"

#include <algorithm>

#include "results/sample_ids.h"

namespace tallele {
namespace {

constexpr size_t kMostSkippedIds = 1000;
constexpr std::chrono::milliseconds kReportInterval{200};

void AddCorrections(const CorrectionCounts& from, CorrectionSummary& to) {
  const auto count = [&](CorrectionEnd end) { return from.by_end[static_cast<size_t>(end)]; };
  to.candidates += from.candidates;
  to.carriers_only += from.carriers_only;
  to.pseudo_data += count(CorrectionEnd::kPseudoData);
  to.newton += count(CorrectionEnd::kNewton);
  to.both_tails += count(CorrectionEnd::kBothTails);
  to.near_tail += count(CorrectionEnd::kNearTail);
  to.not_converged += count(CorrectionEnd::kNotConverged);
  to.null_failed += count(CorrectionEnd::kNullFailed);
}

}  // namespace

void BlockResults::Clear() {
  num_variants = 0;
  for (TraitRows& rows : traits) rows.Clear();
  union_rows.clear();
  skipped.Clear();
  report = {};
  state.reset();
}

ScanWriter::ScanWriter(const PlannedScan& plan, EventSink& events)
    : plan_(plan), events_(events), start_(std::chrono::steady_clock::now()), last_report_(start_) {
  summary_.problems = plan.trait_problems;
}

Result<std::unique_ptr<ScanWriter>> ScanWriter::Open(const PlannedScan& plan, EventSink& events) {
  std::unique_ptr<ScanWriter> writer(new ScanWriter(plan, events));
  for (const size_t t : plan.traits) {
    Trait trait;
    TALLELE_ASSIGN(trait.output,
                   OpenTraitOutput(plan.output, plan.schema, t + 1, plan.cohort.traits[t].name,
                                   plan.source->variants()));
    trait.people = PersonSet(plan.cohort.base.size());
    writer->traits_.push_back(std::move(trait));
  }
  if (plan.output.regenie_text && !plan.output.split) {
    std::vector<std::string> names;
    for (const size_t t : plan.traits) names.push_back(plan.cohort.traits[t].name);
    TALLELE_ASSIGN(writer->wide_, WideText::Create(plan.output.prefix, plan.output.gzip, names,
                                                   plan.schema, plan.source->variants()));
  }
  return writer;
}

void ScanWriter::NoteSkipped(const std::vector<size_t>& variants, size_t& count) {
  count += variants.size();
  for (const size_t variant : variants) {
    if (summary_.skipped_ids.size() == kMostSkippedIds) return;
    summary_.skipped_ids.emplace_back(plan_.source->variants()[variant].id);
  }
}

void ScanWriter::NotePeople(const ChromosomeState& state) {
  const auto note = [this](size_t trait, const PersonSet& mask) {
    const auto at = std::find(plan_.traits.begin(), plan_.traits.end(), trait);
    traits_[static_cast<size_t>(at - plan_.traits.begin())].people.AddAll(mask);
  };
  for (const GroupState& group : state.groups) {
    for (const TraitNull& null : group.traits) note(null.trait, group.group->mask);
    for (const BinaryNull& null : group.binary) note(null.trait, group.group->mask);
  }
}

Result<void> ScanWriter::AppendWide(const BlockResults& results) {
  if (!wide_) return {};
  std::vector<const ResultTable*> tables;
  for (const size_t t : plan_.traits) tables.push_back(&results.traits[t].table);
  return wide_->Append(results.union_rows, tables);
}

void ScanWriter::ReportProgress(bool final) {
  const auto now = std::chrono::steady_clock::now();
  if (!final && now - last_report_ < kReportInterval) return;
  last_report_ = now;
  ProgressReport report;
  report.unit = "variants";
  report.done = static_cast<int64_t>(summary_.num_variants);
  report.total = static_cast<int64_t>(plan_.num_selected());
  report.elapsed_seconds = std::chrono::duration<double>(now - start_).count();
  report.final = final;
  events_.Progress(report);
}

Result<void> ScanWriter::Append(const BlockResults& results) {
  summary_.num_variants += results.num_variants;
  NoteSkipped(results.skipped.not_biallelic, summary_.num_not_biallelic);
  NoteSkipped(results.skipped.high_ploidy, summary_.num_high_ploidy);
  for (const std::string& note : results.report.notes) events_.Message(Severity::kInfo, note);
  for (const TraitProblem& problem : results.report.problems) {
    events_.Message(Severity::kWarning, problem.trait + ": " + problem.reason);
    summary_.problems.push_back(problem);
  }
  if (results.state != nullptr && results.state != last_state_) {
    NotePeople(*results.state);
    last_state_ = results.state;
  }
  for (size_t i = 0; i < traits_.size(); ++i) {
    const TraitRows& rows = results.traits[plan_.traits[i]];
    Trait& trait = traits_[i];
    trait.summary.skipped_low_mac += rows.low_mac;
    trait.summary.skipped_low_info += rows.low_info;
    trait.summary.skipped_low_homs += rows.low_homs;
    AddCorrections(rows.corrections, trait.summary.corrections);
    if (rows.table.rows.empty()) continue;
    trait.statistics.Add(rows.table);
    TALLELE_TRY(trait.output->Append(rows.table));
  }
  TALLELE_TRY(AppendWide(results));
  ReportProgress(false);
  return {};
}

Result<void> ScanWriter::FinishPart(VariantRange part) {
  for (Trait& trait : traits_) TALLELE_TRY(trait.output->FinishPart(part));
  return {};
}

Result<void> ScanWriter::WritePeople(const Trait& trait, const std::string& name) const {
  std::vector<PersonId> people;
  for (size_t b = 0; b < plan_.cohort.base.size(); ++b) {
    if (!trait.people.Contains(b)) continue;
    const SampleIdentity& person = plan_.samples[plan_.cohort.base[b]];
    people.push_back({person.fid, person.iid});
  }
  return WriteSampleIds(SampleIdsPath(plan_.request.out, name), people,
                        plan_.request.print_pheno ? std::optional(name) : std::nullopt);
}

Result<ScanSummary> ScanWriter::Finish() {
  if (wide_) {
    TALLELE_TRY(wide_->Finish());
    summary_.wide_text_file = wide_->path();
  }
  for (size_t i = 0; i < traits_.size(); ++i) {
    Trait& trait = traits_[i];
    const std::string& name = plan_.cohort.traits[plan_.traits[i]].name;
    TALLELE_ASSIGN(trait.summary.files, trait.output->Finish());
    if (plan_.request.write_samples) TALLELE_TRY(WritePeople(trait, name));
    trait.summary.num_rows = trait.statistics.num_rows();
    trait.summary.num_failed_rows = trait.statistics.num_failed_rows();
    trait.summary.lambda_gc = trait.statistics.LambdaGc();
    if (const auto& top = trait.statistics.top_hit()) {
      trait.summary.top_id = std::string(plan_.source->variants()[top->variant].id);
      trait.summary.top_log10p = top->log10p;
    }
    summary_.traits.push_back(trait.summary);
  }
  ReportProgress(true);
  return summary_;
}

}  // namespace tallele

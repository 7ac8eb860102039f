#include "assoc/scan_writer.h"

#include <algorithm>
#include <utility>

#include "results/read_part.h"
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

ScanWriter::ScanWriter(const PlannedScan& plan, RunState& run, EventSink& events)
    : plan_(plan),
      run_(run),
      events_(events),
      start_(std::chrono::steady_clock::now()),
      last_report_(start_) {
  summary_.problems = plan.trait_problems;
}

Result<std::unique_ptr<ScanWriter>> ScanWriter::Open(const PlannedScan& plan, RunState& run,
                                                     EventSink& events) {
  std::unique_ptr<ScanWriter> writer(new ScanWriter(plan, run, events));
  for (size_t i = 0; i < plan.traits.size(); ++i) {
    const size_t t = plan.traits[i];
    OutputRequest output = plan.output;
    output.plan_hash = run.plan_hash(i);
    Trait trait;
    TALLELE_ASSIGN(trait.output,
                   OpenTraitOutput(output, plan.schema, t + 1, plan.cohort.traits[t].name,
                                   plan.source->variants(), plan.env()));
    trait.people = PersonSet(plan.cohort.base.size());
    writer->traits_.push_back(std::move(trait));
    for (const std::string& reason : run.problems(i)) {
      writer->summary_.problems.push_back({plan.cohort.traits[t].name, reason});
    }
  }
  writer->RestoreCounts();
  if (plan.output.regenie_text && !plan.output.split) {
    std::vector<std::string> names;
    for (const size_t t : plan.traits) names.push_back(plan.cohort.traits[t].name);
    TALLELE_ASSIGN(writer->wide_,
                   WideText::Create(plan.output.prefix, plan.output.gzip, names, plan.schema,
                                    plan.source->variants(), plan.env()));
    if (!plan.output.kept_text.empty()) {
      TALLELE_TRY(writer->wide_->KeepLines(run.text_folder(0), plan.output.kept_text));
    }
  }
  return writer;
}

// Counts of the parts that earlier attempts finished for every trait.
void ScanWriter::RestoreCounts() {
  if (!run_.resumed()) return;
  size_t left = plan_.num_selected();
  for (const VariantRange& part : run_.parts_to_compute()) left -= plan_.CountSelected(part);
  summary_.num_restored_variants = left;
  for (const CommittedPart& part : run_.restored(0)) {
    const auto& open = run_.parts_to_compute();
    const bool repeated = std::any_of(open.begin(), open.end(), [&](const VariantRange& range) {
      return range.first == part.range.first;
    });
    if (repeated) continue;
    summary_.num_not_biallelic += part.counts.not_biallelic;
    summary_.num_high_ploidy += part.counts.high_ploidy;
  }
}

void ScanWriter::AddCounts(const PartCounts& counts, TraitSummary& summary) {
  summary.skipped_low_mac += counts.low_mac;
  summary.skipped_low_info += counts.low_info;
  summary.skipped_low_homs += counts.low_homs;
  summary.corrections.Add(counts.corrections);
}

// Rows of the parts before `variant` that are not computed again: read back for the summary and
// for the text, which has all rows in order.
Result<void> ScanWriter::RestoreUpTo(size_t variant, size_t i) {
  Trait& trait = traits_[i];
  const std::vector<CommittedPart>& restored = run_.restored(i);
  for (; trait.next_restored < restored.size(); ++trait.next_restored) {
    const CommittedPart& part = restored[trait.next_restored];
    if (part.range.first >= variant) return {};
    TALLELE_ASSIGN(const ResultTable table, ReadPart(run_.parts_folder(i) + "/" + part.file,
                                                     part.range, plan_.schema, plan_.env()));
    trait.statistics.Add(table);
    AddCounts(part.counts, trait.summary);
    std::string kept;
    const bool has_kept = !plan_.output.kept_text.empty() && plan_.output.split;
    if (has_kept) {
      TALLELE_ASSIGN(kept, ReadKeptText(run_.text_folder(i), *part.text, plan_.env()));
    }
    TALLELE_TRY(trait.output->Restore(table, has_kept ? &kept : nullptr));
  }
  return {};
}

// Likewise for the text of all traits, whose lines the first one keeps.
Result<void> ScanWriter::RestoreWideUpTo(size_t variant) {
  const std::vector<CommittedPart>& restored = run_.restored(0);
  for (; next_restored_wide_ < restored.size(); ++next_restored_wide_) {
    const CommittedPart& part = restored[next_restored_wide_];
    if (part.range.first >= variant) return {};
    TALLELE_ASSIGN(const std::string lines,
                   ReadKeptText(run_.text_folder(0), *part.text, plan_.env()));
    TALLELE_TRY(wide_->Restore(lines));
  }
  return {};
}

void ScanWriter::NoteProblems(const FitReport& report) {
  // A chromosome is fitted again where it comes back in the file, or for other traits of a resumed
  // run.
  for (const std::string& note : report.notes) {
    if (notes_.insert(note).second) events_.Message(Severity::kInfo, note);
  }
  for (const TraitProblem& problem : report.problems) {
    const auto same = [&](const TraitProblem& known) {
      return known.trait == problem.trait && known.reason == problem.reason;
    };
    if (std::any_of(summary_.problems.begin(), summary_.problems.end(), same)) continue;
    events_.Message(Severity::kWarning, problem.trait + ": " + problem.reason);
    summary_.problems.push_back(problem);
    for (size_t i = 0; i < traits_.size(); ++i) {
      if (plan_.cohort.traits[plan_.traits[i]].name == problem.trait) {
        run_.AddProblem(i, problem.reason);
      }
    }
  }
}

void ScanWriter::NoteSkipped(const std::vector<size_t>& variants, size_t& count) {
  count += variants.size();
  for (const size_t variant : variants) {
    if (summary_.skipped_ids.size() == kMostSkippedIds) return;
    summary_.skipped_ids.emplace_back(plan_.source->variants()[variant].id);
  }
}

ScanWriter::Trait& ScanWriter::TraitOf(size_t cohort_trait) {
  const auto at = std::find(plan_.traits.begin(), plan_.traits.end(), cohort_trait);
  return traits_[static_cast<size_t>(at - plan_.traits.begin())];
}

void ScanWriter::NoteNullModels(const ChromosomeState& state) {
  for (const GroupState& group : state.groups) {
    for (const TraitNull& null : group.traits) TraitOf(null.trait).people.AddAll(group.group->mask);
    for (const BinaryNull& null : group.binary) {
      TraitOf(null.trait).people.AddAll(group.group->mask);
      NoteNullFirth(state.code, null);
    }
  }
}

void ScanWriter::NoteNullFirth(int code, const BinaryNull& null) {
  if (!plan_.request.write_null_firth || null.people->firth_coefficients.empty()) return;
  TraitOf(null.trait).null_firth[code] =
      plan_.regenie_basis.FromBasis(null.people->firth_coefficients);
}

// Traits without a model are in no list, as in REGENIE.
Result<void> ScanWriter::WriteNullFirthModels() {
  if (!plan_.request.write_null_firth) return {};
  std::vector<NullFirthModels> models;
  for (size_t i = 0; i < traits_.size(); ++i) {
    if (traits_[i].null_firth.empty()) continue;
    const size_t t = plan_.traits[i];
    models.push_back({plan_.cohort.traits[t].name, t + 1, std::move(traits_[i].null_firth)});
  }
  const std::string& prefix = plan_.request.out;
  TALLELE_TRY(WriteNullFirth(prefix, plan_.request.gzip, models, plan_.env()));
  events_.Message(Severity::kInfo, "null Firth models: " + NullFirthListPath(prefix));
  return {};
}

Result<void> ScanWriter::AppendWide(VariantRange part, const BlockResults& results) {
  if (!wide_) return {};
  TALLELE_TRY(RestoreWideUpTo(part.first));
  std::vector<const ResultTable*> tables;
  for (const size_t t : plan_.traits) tables.push_back(&results.traits[t].table);
  return wide_->Append(part, results.union_rows, tables);
}

void ScanWriter::ReportProgress(bool final) {
  const auto now = std::chrono::steady_clock::now();
  if (!final && now - last_report_ < kReportInterval) return;
  last_report_ = now;
  ProgressReport report;
  report.unit = "variants";
  report.done = static_cast<int64_t>(summary_.num_restored_variants + summary_.num_variants);
  report.total = static_cast<int64_t>(plan_.num_selected());
  report.elapsed_seconds = std::chrono::duration<double>(now - start_).count();
  report.final = final;
  events_.Progress(report);
}

// Tells machines which chromosome is at work.
void ScanWriter::NoteChromosome(VariantRange part) {
  const std::string_view label = plan_.source->variants()[part.first].chromosome;
  if (label == chromosome_) return;
  if (!chromosome_.empty()) EndChromosome();
  chromosome_ = label;
  const EventField fields[] = {{"chromosome", std::string_view(chromosome_)}};
  events_.Event("chromosome_started", fields);
}

void ScanWriter::EndChromosome() {
  const EventField fields[] = {{"chromosome", std::string_view(chromosome_)},
                               {"variants_so_far", static_cast<int64_t>(summary_.num_variants)},
                               {"bytes_so_far", static_cast<int64_t>(summary_.num_part_bytes)}};
  events_.Event("chromosome_finished", fields);
  chromosome_.clear();
}

Result<void> ScanWriter::Append(VariantRange part, const BlockResults& results) {
  NoteChromosome(part);
  summary_.num_variants += results.num_variants;
  NoteSkipped(results.skipped.not_biallelic, summary_.num_not_biallelic);
  NoteSkipped(results.skipped.high_ploidy, summary_.num_high_ploidy);
  NoteProblems(results.report);
  if (results.state != nullptr && results.state != last_state_) {
    NoteNullModels(*results.state);
    last_state_ = results.state;
  }
  for (size_t i = 0; i < traits_.size(); ++i) {
    const TraitRows& rows = results.traits[plan_.traits[i]];
    Trait& trait = traits_[i];
    trait.counts.low_mac += rows.low_mac;
    trait.counts.low_info += rows.low_info;
    trait.counts.low_homs += rows.low_homs;
    trait.counts.not_biallelic += results.skipped.not_biallelic.size();
    trait.counts.high_ploidy += results.skipped.high_ploidy.size();
    AddCorrections(rows.corrections, trait.counts.corrections);
    if (rows.table.rows.empty()) continue;
    TALLELE_TRY(RestoreUpTo(part.first, i));
    trait.statistics.Add(rows.table);
    TALLELE_TRY(trait.output->Append(rows.table));
  }
  TALLELE_TRY(AppendWide(part, results));
  ReportProgress(false);
  return {};
}

Result<void> ScanWriter::FinishPart(VariantRange part) {
  TALLELE_TRY(run_.CheckBeforePublishing());
  const std::vector<size_t>& lacking = run_.TraitsWithout(part);
  std::optional<KeptText> wide_text;
  if (wide_) {
    TALLELE_ASSIGN(wide_text, wide_->FinishPart(part));
  }
  for (size_t i = 0; i < traits_.size(); ++i) {
    Trait& trait = traits_[i];
    const PartCounts counts = std::exchange(trait.counts, {});
    if (std::find(lacking.begin(), lacking.end(), plan_.traits[i]) == lacking.end()) continue;
    AddCounts(counts, trait.summary);
    TALLELE_ASSIGN(std::optional<PublishedPart> published, trait.output->FinishPart(part));
    if (!published) continue;
    summary_.num_part_bytes += published->num_bytes;
    CommittedPart committed{published->file,
                            published->part,
                            published->num_rows,
                            published->num_bytes,
                            published->sha256,
                            counts,
                            i == 0 && wide_text ? wide_text : published->text};
    TALLELE_TRY(run_.Commit(i, std::move(committed)));
  }
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
                        plan_.request.print_pheno ? std::optional(name) : std::nullopt,
                        plan_.env());
}

Result<ScanSummary> ScanWriter::Finish() {
  if (!chromosome_.empty()) EndChromosome();
  if (wide_) {
    TALLELE_TRY(RestoreWideUpTo(SIZE_MAX));
    TALLELE_TRY(wide_->Finish());
    summary_.wide_text_file = wide_->path();
    for (size_t i = 0; i < traits_.size(); ++i) {
      TALLELE_TRY(run_.AddOutput(i, wide_->path()));
      TALLELE_TRY(run_.AddOutput(i, TraitDictionaryPath(plan_.output.prefix)));
    }
  }
  TALLELE_TRY(WriteNullFirthModels());
  for (size_t i = 0; i < traits_.size(); ++i) {
    Trait& trait = traits_[i];
    const std::string& name = plan_.cohort.traits[plan_.traits[i]].name;
    TALLELE_TRY(RestoreUpTo(SIZE_MAX, i));
    TALLELE_ASSIGN(trait.summary.files, trait.output->Finish());
    if (!trait.summary.files.text_file.empty()) {
      TALLELE_TRY(run_.AddOutput(i, trait.summary.files.text_file));
    }
    if (plan_.request.write_samples) {
      TALLELE_TRY(WritePeople(trait, name));
      TALLELE_TRY(run_.AddOutput(i, SampleIdsPath(plan_.request.out, name)));
    }
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

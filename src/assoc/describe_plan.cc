#include <fmt/format.h>

#include <algorithm>

#include "assoc/scan_plan.h"
#include "base/format_number.h"

namespace tallele {
namespace {

std::string Count(size_t n) { return FormatThousands(static_cast<int64_t>(n)); }

void AddReason(size_t count, const char* reason, std::string& text) {
  if (count == 0) return;
  text += text.empty() ? "" : ", ";
  text += Count(count) + " " + reason;
}

std::string PeopleLine(const PlannedScan& plan) {
  const CohortCounts& c = plan.cohort.counts;
  std::string out;
  AddReason(c.not_kept, "not in --keep", out);
  AddReason(c.removed, "by --remove", out);
  AddReason(c.filtered_by_sex, "of the other sex", out);
  AddReason(c.not_in_pheno_file, "not in the phenotype file", out);
  AddReason(c.not_in_covar_file, "not in the covariate file", out);
  AddReason(c.missing_covariate, "with a missing covariate", out);
  AddReason(c.incomplete_traits, "with a missing trait", out);
  std::string line = fmt::format("People: {} genotyped, {} in the base set, {} with a trait",
                                 Count(c.genotyped), Count(c.base), Count(plan.axis.num_used()));
  if (!out.empty()) line += " (left out: " + out + ")";
  return line;
}

std::string GenotypeLine(const PlannedScan& plan) {
  const GenotypeFormat& format = plan.source->format();
  const VariantSelection& s = plan.selection;
  std::string line =
      fmt::format("Genotypes: {}, {}, {}, {} variants, {} chosen", plan.source->path(), format.name,
                  format.layout, Count(plan.source->variants().size()), Count(plan.num_selected()));
  std::string out;
  AddReason(s.not_extracted, "not in --extract", out);
  AddReason(s.excluded, "by --exclude", out);
  AddReason(s.other_chromosome, "on other chromosomes", out);
  AddReason(s.outside_window, "outside --range", out);
  AddReason(s.unknown_chromosome, "on chromosomes without a number", out);
  if (!out.empty()) line += " (left out: " + out + ")";
  if (s.listed_ids_not_found > 0) {
    line +=
        fmt::format("; {} listed identifiers are not in the file", Count(s.listed_ids_not_found));
  }
  return line;
}

std::string CovariateLine(const PlannedScan& plan) {
  std::string line = fmt::format("Covariates: {} columns and an intercept, rank {}",
                                 plan.num_covariates_asked, plan.basis.rank());
  if (!plan.basis.dropped.empty()) {
    line += " (determined by the others, so without effect: ";
    for (size_t i = 0; i < plan.basis.dropped.size(); ++i) {
      line += (i == 0 ? "" : ", ") + plan.basis.dropped[i];
    }
    line += ")";
  }
  return line;
}

std::vector<std::string> TraitLines(const PlannedScan& plan) {
  std::vector<std::string> lines;
  std::vector<const SampleGroup*> patterns;
  for (const size_t t : plan.traits) {
    const SampleGroup* group = plan.fitter->GroupOfTrait(t).get();
    if (std::find(patterns.begin(), patterns.end(), group) == patterns.end()) {
      patterns.push_back(group);
    }
    const std::vector<double>& values = plan.cohort.traits[t].values;
    std::string people = Count(group->num_people) + " people";
    if (plan.is_binary()) {
      const auto cases = static_cast<size_t>(std::count(values.begin(), values.end(), 1.0));
      people = fmt::format("{} cases, {} controls", Count(cases), Count(group->num_people - cases));
    }
    lines.push_back(fmt::format("  {}: {}, covariate rank {}", plan.cohort.traits[t].name, people,
                                group->rank));
  }
  lines.insert(lines.begin(), fmt::format("Traits: {}, {} missing pattern{}", plan.traits.size(),
                                          patterns.size(), patterns.size() == 1 ? "" : "s"));
  return lines;
}

std::string WorkLine(const PlannedScan& plan) {
  const size_t people = plan.axis.num_block_people();
  const size_t blocks = static_cast<size_t>(plan.threads) * plan.block_width * 3 * people;
  // Integers twice (rows and panel) and the doubles that they are made of.
  const size_t num_columns = plan.is_binary() ? (plan.basis.rank() + 2) * plan.traits.size()
                                              : plan.basis.rank() + plan.traits.size();
  const size_t columns = num_columns * people * 16;
  std::string line = fmt::format(
      "Work: {} thread{}, instruction set {}, blocks of {} variants, about {} MB for genotypes and "
      "{} MB for columns",
      plan.threads, plan.threads == 1 ? "" : "s", CpuTargetName(plan.target), plan.block_width,
      (blocks >> 20) + 1, (columns >> 20) + 1);
  if (plan.block_width_limited) {
    line += fmt::format(" (--bsize {} would take more memory; it does not change results)",
                        plan.request.block_size);
  }
  return line;
}

std::string CorrectionText(const BinaryOptions& options) {
  const char* name = nullptr;
  switch (options.correction) {
    case BinaryCorrection::kNone:
      return ", no correction of small p-values";
    case BinaryCorrection::kFirthApproximate:
      name = "approximate Firth";
      break;
    case BinaryCorrection::kFirthExact:
      name = "exact Firth";
      break;
    case BinaryCorrection::kSaddlepoint:
      name = "saddlepoint";
      break;
  }
  return fmt::format(", {} where its p-value is below {}", name,
                     FormatExactly(options.p_threshold));
}

std::string TestLine(const PlannedScan& plan) {
  const TestSettings& s = plan.settings;
  std::string line =
      fmt::format("Test: {} score test, {} ({}), effect allele is the file's {}, minMAC {}",
                  plan.is_binary() ? "logistic" : "linear", plan.schema.test,
                  plan.request.model == GeneticModel::kAdditive   ? "additive"
                  : plan.request.model == GeneticModel::kDominant ? "dominant"
                                                                  : "recessive",
                  plan.request.ref_first ? "second" : "first", FormatExactly(s.min_mac));
  if (s.min_info > 0) line += fmt::format(", minINFO {}", FormatExactly(s.min_info));
  if (s.min_homs > 0) line += fmt::format(", minHOMs {}", FormatExactly(s.min_homs));
  if (plan.is_binary()) line += CorrectionText(plan.request.binary);
  line += plan.loco ? ", LOCO predictions from " + plan.request.pred : ", no LOCO predictions";
  return line;
}

}  // namespace

std::vector<std::string> PlannedScan::Describe() const {
  std::vector<std::string> lines = {GenotypeLine(*this), PeopleLine(*this)};
  for (std::string& line : TraitLines(*this)) lines.push_back(std::move(line));
  for (const TraitProblem& problem : trait_problems) {
    lines.push_back("  not analysed: " + problem.trait + ": " + problem.reason);
  }
  lines.push_back(CovariateLine(*this));
  lines.push_back(TestLine(*this));
  lines.push_back(fmt::format(
      "Haploid calls count as 0 or 2 copies; on chromosome {} from {} to {} the alleles of males "
      "count half for minMAC",
      settings.sex_chromosome_code, settings.non_par.first, settings.non_par.last));
  lines.push_back(WorkLine(*this));
  return lines;
}

}  // namespace tallele

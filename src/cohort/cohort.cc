#include "cohort/cohort.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/format_number.h"
#include "cohort/rank_transform.h"
#include "cohort/sample_file.h"
#include "cohort/sample_lookup.h"
#include "cohort/trait_table.h"

namespace tallele {
namespace {

// File positions that the --keep or --remove files name.
Result<std::vector<bool>> ListedPeople(const std::vector<std::string>& files,
                                       const SampleLookup& lookup, size_t num_samples,
                                       EventSink& events, FileEnv& env) {
  std::vector<bool> listed(num_samples, false);
  size_t unknown = 0;
  for (const std::string& path : files) {
    TALLELE_ASSIGN(const auto people, ReadPeopleList(path, env));
    for (const auto& [fid, iid] : people) {
      const auto position = lookup.Find(fid, iid);
      if (position) {
        listed[*position] = true;
      } else {
        ++unknown;
      }
    }
  }
  if (unknown > 0) {
    events.Message(
        Severity::kInfo,
        std::to_string(unknown) + " people of the --keep or --remove files are not genotyped");
  }
  return listed;
}

// Marks who is left after the filters on people, counting each person once.
Result<std::vector<bool>> FilterPeople(const CohortRequest& request,
                                       std::span<const SampleIdentity> samples,
                                       const SampleLookup& lookup, CohortCounts& counts,
                                       EventSink& events, FileEnv& env) {
  if (!request.keep_files.empty() && !request.remove_files.empty()) {
    return UsageError("--keep and --remove exclude each other", "Give one of them.");
  }
  std::vector<bool> left(samples.size(), true);
  const bool keep = !request.keep_files.empty();
  if (keep || !request.remove_files.empty()) {
    TALLELE_ASSIGN(const std::vector<bool> listed,
                   ListedPeople(keep ? request.keep_files : request.remove_files, lookup,
                                samples.size(), events, env));
    for (size_t i = 0; i < samples.size(); ++i) {
      left[i] = listed[i] == keep;
      if (!left[i]) ++(keep ? counts.not_kept : counts.removed);
    }
  }
  if (request.sex_filter == Sex::kUnknown) return left;
  const auto known = [](const SampleIdentity& s) { return s.sex != Sex::kUnknown; };
  if (std::none_of(samples.begin(), samples.end(), known)) {
    return InputError("--sex-specific needs the people's sex, and nobody's is known", "",
                      "Give a --sample file with a column `sex`, or a .fam file with sexes.");
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!left[i] || samples[i].sex == request.sex_filter) continue;
    left[i] = false;
    ++counts.filtered_by_sex;
  }
  return left;
}

void DropPeopleWithoutTables(const TraitTable& traits, const CovariateTable* covariates,
                             std::vector<bool>& left, CohortCounts& counts) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    size_t* reason = nullptr;
    if (!traits.present[i]) {
      reason = &counts.not_in_pheno_file;
    } else if (covariates != nullptr && !covariates->present[i]) {
      reason = &counts.not_in_covar_file;
    } else if (covariates != nullptr &&
               std::any_of(covariates->columns.begin(), covariates->columns.end(),
                           [i](const CovariateColumn& c) { return std::isnan(c.values[i]); })) {
      reason = &counts.missing_covariate;
    }
    if (reason == nullptr) continue;
    left[i] = false;
    ++*reason;
  }
}

void DropIncompleteTraits(const TraitTable& traits, std::vector<bool>& left, CohortCounts& counts) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    const bool gap = std::any_of(traits.values.begin(), traits.values.end(),
                                 [i](const std::vector<double>& v) { return std::isnan(v[i]); });
    if (!gap) continue;
    left[i] = false;
    ++counts.incomplete_traits;
  }
}

// `values` are by position in the genotype file.
void AddLevel(std::string name, std::span<const double> values, double level, Cohort& cohort) {
  CovariateLevel added{std::move(name), {}};
  for (const uint32_t i : cohort.base) added.members.push_back(values[i] == level);
  cohort.levels.push_back(std::move(added));
}

// Both values of a numeric covariate that has two, such as sex.
void AddTwoValues(const CovariateColumn& column, Cohort& cohort) {
  std::set<double> distinct;
  for (const uint32_t i : cohort.base) {
    distinct.insert(column.values[i]);
    if (distinct.size() > 2) return;
  }
  if (distinct.size() < 2) return;
  for (const double value : distinct) {
    AddLevel(column.name + "=" + FormatExactly(value), column.values, value, cohort);
  }
}

// Indicator columns of a categorical covariate: the level that stands first in the file among the
// base set is the baseline.
Result<void> AddDummies(const CovariateColumn& column, const CovariateTable& table, int max_levels,
                        Cohort& cohort, EventSink& events) {
  std::map<size_t, int64_t> first_row;  // by level
  for (const uint32_t i : cohort.base) {
    const auto level = static_cast<size_t>(column.values[i]);
    const auto [at, added] = first_row.try_emplace(level, table.row[i]);
    if (!added) at->second = std::min(at->second, table.row[i]);
  }
  if (first_row.size() > static_cast<size_t>(max_levels)) {
    Error error = InputError("the categorical covariate " + column.name + " has too many levels",
                             "", "Raise --maxCatLevels, or take it out of --catCovarList.");
    error.found = std::to_string(first_row.size());
    error.expected = "at most " + std::to_string(max_levels);
    return error;
  }
  if (first_row.size() < 2) {
    events.Message(Severity::kWarning, "the categorical covariate " + column.name +
                                           " has one level alone and is left out");
    return {};
  }
  std::vector<std::pair<int64_t, size_t>> order;
  for (const auto& [level, row] : first_row) order.emplace_back(row, level);
  std::sort(order.begin(), order.end());
  for (const auto& [row, level] : order) {
    AddLevel(column.name + "=" + column.levels[level], column.values, static_cast<double>(level),
             cohort);
  }
  for (size_t k = 1; k < order.size(); ++k) {
    std::vector<double> dummy;
    for (const uint32_t i : cohort.base)
      dummy.push_back(column.values[i] == double(order[k].second));
    cohort.covariate_names.push_back(column.name + "=" + column.levels[order[k].second]);
    cohort.covariates.push_back(std::move(dummy));
  }
  return {};
}

Result<void> AddCovariates(const CovariateTable& table, int max_levels, Cohort& cohort,
                           EventSink& events) {
  for (const CovariateColumn& column : table.columns) {
    if (column.categorical) {
      TALLELE_TRY(AddDummies(column, table, max_levels, cohort, events));
      continue;
    }
    AddTwoValues(column, cohort);
    std::vector<double> values;
    for (const uint32_t i : cohort.base) values.push_back(column.values[i]);
    cohort.covariate_names.push_back(column.name);
    cohort.covariates.push_back(std::move(values));
  }
  return {};
}

std::string TraitProblemText(const CohortRequest& request, const TraitColumn& trait) {
  if (trait.num_present == 0) return "all values are missing among the people analysed";
  std::set<double> distinct;
  for (const double value : trait.values) {
    if (std::isnan(value)) continue;
    distinct.insert(value);
    if (distinct.size() > 2) return {};
  }
  if (distinct.size() == 1) {
    return request.family == TraitFamily::kBinary ? "everybody has the same class"
                                                  : "all values are equal";
  }
  if (request.family == TraitFamily::kBinary || request.force_qt) return {};
  return "a quantitative trait with two distinct values; use --force-qt if that is meant, or --bt "
         "if it tells cases from controls";
}

void AddTraits(const CohortRequest& request, TraitTable& table, Cohort& cohort) {
  for (size_t t = 0; t < table.names.size(); ++t) {
    TraitColumn trait;
    trait.name = table.names[t];
    trait.values.reserve(cohort.base.size());
    for (const uint32_t i : cohort.base) {
      trait.values.push_back(table.values[t][i]);
      trait.num_present += !std::isnan(trait.values.back());
    }
    table.values[t] = {};
    trait.problem = TraitProblemText(request, trait);
    const bool quantitative = request.family == TraitFamily::kQuantitative;
    if (request.apply_rint && quantitative && trait.problem.empty()) {
      RankInverseNormal(trait.values);
    }
    cohort.traits.push_back(std::move(trait));
  }
}

Error NobodyLeft(const CohortRequest& request, const CohortCounts& counts) {
  const auto text = [](size_t count, const char* reason) {
    return count == 0 ? std::string() : ", " + std::to_string(count) + " " + reason;
  };
  return InputError(
      "nobody is left to analyse", request.pheno_file,
      "Of " + std::to_string(counts.genotyped) + " genotyped people" +
          text(counts.not_kept, "are not in the --keep files") +
          text(counts.removed, "are in the --remove files") +
          text(counts.filtered_by_sex, "are not of the sex asked for") +
          text(counts.not_in_pheno_file, "are not in the phenotype file") +
          text(counts.not_in_covar_file, "are not in the covariate file") +
          text(counts.missing_covariate, "lack a covariate") +
          text(counts.incomplete_traits, "lack a trait (all are needed without gaps together)") +
          "; check that FID and IID are the same in all files.");
}

}  // namespace

Result<Cohort> LoadCohort(const CohortRequest& request, std::span<const SampleIdentity> samples,
                          EventSink& events, FileEnv& env) {
  Cohort cohort;
  CohortCounts& counts = cohort.counts;
  counts.genotyped = samples.size();
  TALLELE_ASSIGN(const SampleLookup lookup, SampleLookup::Make(samples));
  TALLELE_ASSIGN(std::vector<bool> left,
                 FilterPeople(request, samples, lookup, counts, events, env));
  TALLELE_ASSIGN(TraitTable traits, ReadTraits(request, lookup, samples.size(), events, env));
  CovariateTable covariates;
  const bool has_covariates = !request.covar_file.empty();
  if (has_covariates) {
    TALLELE_ASSIGN(covariates,
                   ReadCovariates(request, traits.names, lookup, samples.size(), events, env));
  }
  counts.pheno_rows_not_genotyped = traits.rows_not_genotyped;
  counts.covar_rows_not_genotyped = covariates.rows_not_genotyped;
  DropPeopleWithoutTables(traits, has_covariates ? &covariates : nullptr, left, counts);
  if (request.sample_mode == SampleMode::kCompleteCase) DropIncompleteTraits(traits, left, counts);
  for (uint32_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    cohort.base.push_back(i);
    cohort.base_keys.push_back(PersonKey(samples[i].fid, samples[i].iid));
    cohort.base_sex.push_back(samples[i].sex);
  }
  counts.base = cohort.base.size();
  if (cohort.base.empty()) return NobodyLeft(request, counts);
  TALLELE_TRY(AddCovariates(covariates, request.max_categorical_levels, cohort, events));
  AddTraits(request, traits, cohort);
  return cohort;
}

}  // namespace tallele

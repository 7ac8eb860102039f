#include "cohort/trait_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/parse_number.h"
#include "cohort/text_table.h"

namespace tallele {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Reads cells as numbers, and counts what looks like an undeclared missing code.
class CellReader {
 public:
  explicit CellReader(const std::vector<std::string>& missing_codes) : codes_(missing_codes) {}

  bool IsMissing(std::string_view cell) const {
    // A cell that begins as a number does is none of the built-in words.
    const bool numeric = !cell.empty() && (cell[0] == '-' || (cell[0] >= '0' && cell[0] <= '9'));
    return (!numeric && IsBuiltInMissing(cell)) || Contains(codes_, cell);
  }

  Result<double> Number(const TextTable& table, size_t column, std::string_view cell) {
    if (IsMissing(cell)) return kMissing;
    double value = 0;
    const NumberOutcome outcome = ParseDouble(cell, &value);
    if (outcome != NumberOutcome::kOk) {
      return table.CellError(column, std::string("a cell holds ") + NumberOutcomeText(outcome),
                             cell, "a number, or NA");
    }
    num_minus_nine_ += value == -9;
    return value;
  }

  // To be told of each category as well: a level -9 is as doubtful as a number.
  void NoteCategory(std::string_view cell) { num_minus_nine_ += cell == "-9"; }

  void Report(const TextTable& table, EventSink& events) const {
    if (num_minus_nine_ == 0) return;
    events.Message(Severity::kWarning,
                   table.path() + ": " + std::to_string(num_minus_nine_) +
                       " cells are -9 and are taken as that value; use --missing-code -9 if they "
                       "mean a missing one");
  }

 private:
  const std::vector<std::string>& codes_;
  int64_t num_minus_nine_ = 0;
};

// The columns asked for (all when none are), less the excluded ones.
Result<std::vector<std::string>> ChooseColumns(const TextTable& table,
                                               const std::vector<std::string>& wanted,
                                               const std::vector<std::string>& excluded) {
  for (const std::string& name : excluded) TALLELE_TRY(table.RequireColumn(name));
  std::vector<std::string> chosen;
  for (const std::string& name : wanted.empty() ? table.columns() : wanted) {
    if (Contains(excluded, name)) continue;
    if (Contains(chosen, name) && !wanted.empty()) {
      return ConfigError("the column " + name + " is asked for twice", table.path());
    }
    chosen.push_back(name);
  }
  return chosen;
}

Result<std::vector<size_t>> Positions(const TextTable& table,
                                      const std::vector<std::string>& names) {
  std::vector<size_t> positions;
  for (const std::string& name : names) {
    TALLELE_ASSIGN(const size_t position, table.Column(name));
    positions.push_back(position);
  }
  return positions;
}

// The genotyped person of a row, marked in `present`, or nothing, counted in `not_genotyped`. Rows
// that spell one FID_IID in two ways (`A_B C`, `A B_C`) are an error: neither may win silently.
Result<std::optional<uint32_t>> TakePerson(const TextTable& table, const TableRow& row,
                                           const SampleLookup& lookup, std::vector<bool>& present,
                                           size_t& not_genotyped) {
  const std::optional<uint32_t> person = lookup.Find(row.fid, row.iid);
  if (!person) {
    ++not_genotyped;
    return person;
  }
  if (present[*person]) {
    return InputError("an earlier line names the same person, since FID_IID is the same text",
                      table.Where(), "Keep one line for each person.");
  }
  present[*person] = true;
  return person;
}

// 0 for a control, 1 for a case. A value of the other coding says so.
Result<double> BinaryValue(const TextTable& table, size_t column, std::string_view cell,
                           double value, BinaryCoding coding) {
  if (coding == BinaryCoding::kOneTwo) {
    if (value == 1 || value == 2) return value - 1;
    Error error = table.CellError(column, "a binary trait is neither 1 (control) nor 2 (case)",
                                  cell, "1, 2 or NA, because of --cc12");
    if (value == 0)
      error.advice =
          "The table seems to have 0 for controls and 1 for cases: leave "
          "--cc12 (-1) out. If 0 stands for missing, give --missing-code 0 with it.";
    return error;
  }
  if (value == 0 || value == 1) return value;
  Error error = table.CellError(column, "a binary trait is neither 0 (control) nor 1 (case)", cell,
                                "0, 1 or NA");
  if (value == 2) {
    error.advice = "The table seems to have 1 for controls and 2 for cases: give --cc12 (-1).";
  }
  return error;
}

// A trait's value, checked for its family.
Result<double> TraitValue(const TextTable& table, size_t column, std::string_view cell,
                          const CohortRequest& request, CellReader& cells) {
  TALLELE_ASSIGN(const double value, cells.Number(table, column, cell));
  if (request.family == TraitFamily::kQuantitative || std::isnan(value)) return value;
  return BinaryValue(table, column, cell, value, request.binary_coding);
}

// Numbers the levels of a categorical column as they come.
class LevelCoder {
 public:
  double Code(std::string_view level, std::vector<std::string>& levels) {
    const auto [code, added] = codes_.try_emplace(std::string(level), levels.size());
    if (added) levels.emplace_back(level);
    return static_cast<double>(code->second);
  }

 private:
  std::unordered_map<std::string, size_t> codes_;
};

// The columns to read as covariates: those chosen, less the traits' namesakes.
Result<std::vector<std::string>> CovariateNames(const CohortRequest& request,
                                                const std::vector<std::string>& trait_names,
                                                const TextTable& table, EventSink& events) {
  TALLELE_ASSIGN(std::vector<std::string> names,
                 ChooseColumns(table, request.covar_columns, request.covar_exclude));
  for (const std::string& name : request.categorical_covariates) {
    if (Contains(names, name)) continue;
    TALLELE_TRY(table.RequireColumn(name));
    return ConfigError("the categorical covariate " + name + " is not among the covariates",
                       "--catCovarList", "Name it in --covarColList as well.");
  }
  std::erase_if(names, [&](const std::string& name) {
    if (!Contains(trait_names, name)) return false;
    events.Message(Severity::kWarning, "the covariate " + name +
                                           " is left out, since a trait of that name is analysed");
    return true;
  });
  return names;
}

// An empty table with the columns `names`.
CovariateTable MakeCovariateTable(const std::vector<std::string>& names,
                                  const std::vector<std::string>& categorical, size_t num_samples) {
  CovariateTable table;
  table.present.assign(num_samples, false);
  table.row.assign(num_samples, 0);
  for (const std::string& name : names) {
    table.columns.push_back(
        {name, Contains(categorical, name), std::vector<double>(num_samples, kMissing), {}});
  }
  return table;
}

}  // namespace

Result<TraitTable> ReadTraits(const CohortRequest& request, const SampleLookup& lookup,
                              size_t num_samples, EventSink& events, FileEnv& env) {
  TALLELE_ASSIGN(const auto table, TextTable::Open(request.pheno_file, env));
  TraitTable traits;
  TALLELE_ASSIGN(traits.names, ChooseColumns(*table, request.pheno_columns, request.pheno_exclude));
  if (traits.names.empty()) {
    return InputError("no trait is left to analyse", table->path(),
                      "Check --phenoCol, --phenoColList and --phenoExcludeList.");
  }
  TALLELE_ASSIGN(const std::vector<size_t> positions, Positions(*table, traits.names));
  traits.present.assign(num_samples, false);
  traits.values.assign(traits.names.size(), std::vector<double>(num_samples, kMissing));
  CellReader cells(request.missing_codes);
  TableRow row;
  while (true) {
    TALLELE_ASSIGN(const bool more, table->Next(&row));
    if (!more) break;
    TALLELE_ASSIGN(const std::optional<uint32_t> person,
                   TakePerson(*table, row, lookup, traits.present, traits.rows_not_genotyped));
    for (size_t t = 0; t < positions.size(); ++t) {
      TALLELE_ASSIGN(const double value,
                     TraitValue(*table, positions[t], row.cells[positions[t]], request, cells));
      if (person) traits.values[t][*person] = value;
    }
  }
  cells.Report(*table, events);
  return traits;
}

Result<CovariateTable> ReadCovariates(const CohortRequest& request,
                                      const std::vector<std::string>& trait_names,
                                      const SampleLookup& lookup, size_t num_samples,
                                      EventSink& events, FileEnv& env) {
  TALLELE_ASSIGN(const auto table, TextTable::Open(request.covar_file, env));
  TALLELE_ASSIGN(const std::vector<std::string> names,
                 CovariateNames(request, trait_names, *table, events));
  TALLELE_ASSIGN(const std::vector<size_t> positions, Positions(*table, names));
  CovariateTable covariates =
      MakeCovariateTable(names, request.categorical_covariates, num_samples);
  std::vector<LevelCoder> coders(names.size());
  CellReader cells(request.missing_codes);
  TableRow row;
  for (int64_t row_number = 0;; ++row_number) {
    TALLELE_ASSIGN(const bool more, table->Next(&row));
    if (!more) break;
    TALLELE_ASSIGN(
        const std::optional<uint32_t> person,
        TakePerson(*table, row, lookup, covariates.present, covariates.rows_not_genotyped));
    if (person) covariates.row[*person] = row_number;
    for (size_t c = 0; c < positions.size(); ++c) {
      CovariateColumn& column = covariates.columns[c];
      const std::string_view cell = row.cells[positions[c]];
      double value = kMissing;
      if (!column.categorical) {
        TALLELE_ASSIGN(value, cells.Number(*table, positions[c], cell));
      } else if (!cells.IsMissing(cell)) {
        cells.NoteCategory(cell);
        value = coders[c].Code(cell, column.levels);
      }
      if (person) column.values[*person] = value;
    }
  }
  cells.Report(*table, events);
  return covariates;
}

}  // namespace tallele

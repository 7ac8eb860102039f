#include "cohort/variant_selection.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/parse_number.h"
#include "base/text_reader.h"

namespace tallele {
namespace {

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

// A position that fits the genotype formats.
std::optional<uint32_t> ParsePosition(std::string_view text) {
  const auto value = ParseInteger(Trim(text));
  if (!value || *value < 0 || *value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

Error RangeError(std::string_view text, std::string expected) {
  Error error = UsageError("the range cannot be understood");
  error.found = std::string(text);
  error.expected = std::move(expected);
  return error;
}

// Identifiers of a list, each with whether a variant matched it.
using IdList = std::unordered_map<std::string, bool>;

Result<IdList> ReadIdLists(const std::vector<std::string>& paths, FileEnv& env) {
  IdList ids;
  std::string_view line;
  std::vector<std::string_view> fields;
  for (const std::string& path : paths) {
    TALLELE_ASSIGN(const auto reader, LineReader::Open(path, env));
    while (true) {
      TALLELE_ASSIGN(const bool more, reader->Next(&line));
      if (!more) break;
      SplitBlanks(line, fields);
      if (!fields.empty()) ids.try_emplace(std::string(fields[0]), false);
    }
  }
  return ids;
}

size_t CountUnmatched(const IdList& ids) {
  return static_cast<size_t>(
      std::count_if(ids.begin(), ids.end(), [](const auto& entry) { return !entry.second; }));
}

bool Match(IdList& ids, const std::string& id) {
  const auto at = ids.find(id);
  if (at == ids.end()) return false;
  at->second = true;
  return true;
}

// Labels of a file, each once, in file order; the first ones if there are very many.
std::string PresentLabels(const VariantIndex& variants) {
  constexpr size_t kLabelsInMessage = 60;
  std::set<std::string> seen;
  std::string text;
  for (const ChromosomeRun& run : variants.runs()) {
    if (!seen.insert(run.label).second) continue;
    if (seen.size() > kLabelsInMessage) return text + ", ...";
    text += (text.empty() ? "" : ", ") + run.label;
  }
  return text.empty() ? "none" : text;
}

Error AbsentChromosome(const std::string& label, const std::string& options,
                       const VariantIndex& variants) {
  Error error = UsageError("the genotype file has no variants of chromosome " + label,
                           "Check " + options + ".");
  error.expected = "one of " + PresentLabels(variants);
  return error;
}

// Codes of the chromosomes asked for. One that the file does not have, there or in the window, is
// an error: a job of nothing would look like a job without hits.
Result<std::set<int>> ChromosomeCodes(const VariantSelectionRequest& request,
                                      const VariantIndex& variants) {
  std::set<int> present, wanted;
  for (const ChromosomeRun& run : variants.runs()) {
    if (const auto code = ChromosomeCode(run.label, request.num_autosomes)) present.insert(*code);
  }
  for (const std::string& label : request.chromosomes) {
    const auto code = ChromosomeCode(label, request.num_autosomes);
    if (!code || !present.contains(*code)) {
      return AbsentChromosome(label, "--chr and --chrList", variants);
    }
    wanted.insert(*code);
  }
  if (request.window && !present.contains(request.window->chromosome_code)) {
    return AbsentChromosome(std::to_string(request.window->chromosome_code), "--range", variants);
  }
  return wanted;
}

}  // namespace

std::optional<int> ChromosomeCode(std::string_view label, int num_autosomes) {
  if (label.size() > 3 && EqualsIgnoringCase(label.substr(0, 3), "chr")) label.remove_prefix(3);
  for (const char* name : {"X", "Y", "XY", "PAR1", "PAR2"}) {
    if (EqualsIgnoringCase(label, name)) return num_autosomes + 1;
  }
  const auto number = ParseInteger(label);
  if (!number || *number < 1 || *number > num_autosomes + 1) return std::nullopt;
  return static_cast<int>(*number);
}

Result<NonParRegion> ParseParRegion(std::string_view text) {
  // Boundaries as REGENIE 4.1.2 has them.
  if (text == "b36" || text == "hg18") return NonParRegion{2709520, 154584238};
  if (text == "b37" || text == "hg19") return NonParRegion{2699520, 154931044};
  if (text == "b38" || text == "hg38") return NonParRegion{2781479, 155701383};
  const size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    const auto first = ParsePosition(text.substr(0, comma));
    const auto last = ParsePosition(text.substr(comma + 1));
    if (first && last && *first <= *last) return NonParRegion{*first, *last};
  }
  return RangeError(text,
                    "b36, hg18, b37, hg19, b38, hg38 or FIRST,LAST of the part outside the "
                    "pseudo-autosomal regions");
}

Result<VariantWindow> ParseVariantWindow(std::string_view text, int num_autosomes) {
  const std::string form = "CHROMOSOME:FIRST-LAST, as in 3:1000-20000";
  const size_t colon = text.find(':');
  const size_t dash = text.find('-', colon == std::string_view::npos ? 0 : colon);
  if (colon == std::string_view::npos || dash == std::string_view::npos) {
    return RangeError(text, form);
  }
  const auto code = ChromosomeCode(Trim(text.substr(0, colon)), num_autosomes);
  const auto first = ParsePosition(text.substr(colon + 1, dash - colon - 1));
  const auto last = ParsePosition(text.substr(dash + 1));
  if (!code || !first || !last || *first > *last) return RangeError(text, form);
  return VariantWindow{*code, *first, *last};
}

Result<VariantSelection> SelectVariants(const VariantSelectionRequest& request,
                                        const VariantIndex& variants, FileEnv& env) {
  TALLELE_ASSIGN(IdList extract, ReadIdLists(request.extract_files, env));
  TALLELE_ASSIGN(IdList exclude, ReadIdLists(request.exclude_files, env));
  TALLELE_ASSIGN(const std::set<int> wanted, ChromosomeCodes(request, variants));
  const bool only_listed = !request.extract_files.empty();
  VariantSelection selection;
  selection.selected.assign(variants.size(), false);
  std::string id;
  for (const ChromosomeRun& run : variants.runs()) {
    const auto code = ChromosomeCode(run.label, request.num_autosomes);
    for (size_t v = run.range.first; v < run.range.first + run.range.count; ++v) {
      const VariantRecord record = variants[v];
      id.assign(record.id);
      const bool listed = !only_listed || Match(extract, id);
      const bool barred = Match(exclude, id);
      if (!code) {
        ++selection.unknown_chromosome;
      } else if (!wanted.empty() && !wanted.contains(*code)) {
        ++selection.other_chromosome;
      } else if (request.window && (*code != request.window->chromosome_code ||
                                    record.position < request.window->first ||
                                    record.position > request.window->last)) {
        ++selection.outside_window;
      } else if (!listed) {
        ++selection.not_extracted;
      } else if (barred) {
        ++selection.excluded;
      } else {
        selection.selected[v] = true;
        ++selection.num_selected;
      }
    }
  }
  selection.listed_ids_not_found = CountUnmatched(extract) + CountUnmatched(exclude);
  if (selection.num_selected == variants.size()) selection.selected.clear();
  return selection;
}

}  // namespace tallele

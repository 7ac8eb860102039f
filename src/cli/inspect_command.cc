#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/format_number.h"
#include "base/parse_number.h"
#include "cli/commands.h"
#include "genotype/inspect.h"

namespace tallele {
namespace {

constexpr size_t kVariantsToDecode = 500;
constexpr char kHelp[] =
    "tallele inspect: what a genotype file is\n\n"
    "  tallele inspect FILE [--json]\n"
    "  tallele inspect FILE --list-variants N\n\n"
    "FILE is a BGEN file, or a .bed, .bim or .fam file or their common prefix. Depth, phase, "
    "ploidy\n"
    "and missing calls come from up to 500 variants spread over the file. --list-variants prints "
    "the\n"
    "identifiers of the first N variants, one a line.\n";

std::string BitsText(const GenotypeSummary& s) {
  std::string text;
  for (const int bits : s.bits) {
    text +=
        (text.empty() ? "" : ", ") + (bits == 0 ? std::string("hard calls") : std::to_string(bits));
  }
  return text.empty() ? "unknown" : text;
}

std::string PloidyText(const GenotypeSummary& s) {
  if (s.num_with_haploid == 0 && s.num_high_ploidy == 0) return "2";
  std::string text = s.num_with_haploid > 0 ? "1 and 2" : "2";
  return s.num_high_ploidy > 0 ? text + ", and above" : text;
}

void PrintTable(const std::string& path, const GenotypeSummary& s) {
  fmt::print("{}\n", path);
  fmt::print("  format        {}, {}\n", s.format.name, s.format.layout);
  fmt::print("  compression   {}\n", s.format.compression);
  fmt::print("  bits          {}\n", BitsText(s));
  fmt::print("  samples       {}{}\n", FormatThousands(static_cast<int64_t>(s.num_samples)),
             s.format.has_embedded_samples ? " (identifiers in the file)" : "");
  fmt::print("  variants      {}\n", FormatThousands(static_cast<int64_t>(s.num_variants)));
  if (s.num_multiallelic > 0) fmt::print("  not biallelic {}\n", s.num_multiallelic);
  fmt::print("  chromosomes  ");
  for (const auto& chromosome : s.chromosomes) {
    fmt::print(" {} ({})", chromosome.label,
               FormatThousands(static_cast<int64_t>(chromosome.num_variants)));
  }
  fmt::print("\n  phased        {}\n", s.num_phased == 0               ? "no"
                                       : s.num_phased == s.num_decoded ? "yes"
                                                                       : "some variants");
  fmt::print("  ploidy        {}\n", PloidyText(s));
  fmt::print("  missing calls {:.4g} % (of {} variants)\n", 100 * s.missing_share, s.num_decoded);
}

void PrintJson(const std::string& path, const GenotypeSummary& s) {
  nlohmann::ordered_json json;
  json["file"] = path;
  json["format"] = s.format.name;
  json["layout"] = s.format.layout;
  json["compression"] = s.format.compression;
  json["bits"] = s.bits;
  json["samples"] = s.num_samples;
  json["sample_ids_in_file"] = s.format.has_embedded_samples;
  json["variants"] = s.num_variants;
  json["not_biallelic"] = s.num_multiallelic;
  for (const auto& c : s.chromosomes) json["chromosomes"][c.label] = c.num_variants;
  json["decoded_variants"] = s.num_decoded;
  json["phased_variants"] = s.num_phased;
  json["variants_with_haploid_calls"] = s.num_with_haploid;
  json["high_ploidy_variants"] = s.num_high_ploidy;
  json["missing_share"] = s.missing_share;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int ListVariants(const GenotypeSource& source, size_t count) {
  for (size_t v = 0; v < std::min(count, source.variants().size()); ++v) {
    fmt::print("{}\n", source.variants()[v].id);
  }
  return kExitSuccess;
}

}  // namespace

int InspectCommand(std::span<const std::string> arguments) {
  std::string path;
  bool json = false;
  std::optional<int64_t> list;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return kExitSuccess;
    }
    if (word == "--json") {
      json = true;
    } else if (word == "--list-variants" && i + 1 < arguments.size()) {
      list = ParseInteger(arguments[++i]);
      if (!list || *list < 0) return Fail(UsageError("--list-variants needs a number"));
    } else if (word.starts_with('-') || !path.empty()) {
      return Fail(UsageError("inspect does not know " + word, "See `tallele inspect --help`."));
    } else {
      path = word;
    }
  }
  if (path.empty())
    return Fail(UsageError("no file is given", "Usage: tallele inspect FILE [--json]"));
  const auto source = OpenGenotypes(path);
  if (!source.ok()) return Fail(source.error());
  if (list) return ListVariants(**source, static_cast<size_t>(*list));
  const auto summary = InspectGenotypes(**source, kVariantsToDecode);
  if (!summary.ok()) return Fail(summary.error());
  if (json) {
    PrintJson(path, *summary);
  } else {
    PrintTable(path, *summary);
  }
  return kExitSuccess;
}

}  // namespace tallele

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "base/format_number.h"
#include "base/parse_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "config/column_names.h"
#include "config/nearest_name.h"
#include "simulate/simulate.h"

namespace tallele {
namespace {

// Options that need translation before they are part of the request.
struct Translated {
  std::string maf_mix = "0.5,0.2,0.3";
  std::string compression = "zlib";
  std::string gaps = "random";
  bool no_loco = false;
  bool no_embedded_ids = false;
};

void Declare(CLI::App& app, SimulationRequest& r, Translated& t) {
  app.option_defaults()->always_capture_default();
  app.add_option("--out", r.out, "Prefix of every file");
  app.add_option("--seed", r.seed, "Same seed, same bytes");
  app.add_option("--threads", r.num_threads, "Worker threads, 0 for all; never changes a byte");
  app.add_option("--people", r.num_people, "Number of people");
  app.add_option("--family-share", r.family_share, "Share of people in families of four");
  app.add_option("--populations", r.num_populations, "Populations of equal size");
  app.add_option("--fst", r.fst, "Distance of each population from the common ancestor");
  app.add_option("--variants", r.num_variants, "Imputed variants");
  app.add_option("--chromosomes", r.num_chromosomes, "Chromosomes");
  app.add_option("--maf-mix", t.maf_mix, "Shares of variants with MAF < 0.01, 0.01-0.05, above");
  app.add_option("--bits", r.bits, "Bits of a probability: 8 or 16");
  app.add_option("--compression", t.compression, "zlib, zstd or none");
  app.add_option("--compression-level", r.compression_level, "zlib 0-12, zstd 0-19");
  app.add_option("--missing-calls", r.missing_call_share,
                 "Share of missing calls where there are any");
  app.add_option("--missing-variants", r.missing_variant_share,
                 "Share of variants with missing calls");
  app.add_flag("--no-embedded-ids", t.no_embedded_ids,
               "Leave the identifiers out of the BGEN file");
  app.add_option("--array-variants", r.num_array_variants, "Typed variants (BED), 0 for none");
  app.add_option("--array-missing", r.array_missing_share, "Share of missing typed calls");
  app.add_option("--quantitative", r.num_quantitative, "Quantitative traits QT1..");
  app.add_option("--binary", r.num_binary, "Binary traits BT1..");
  app.add_option("--heritability", r.heritability, "Of each trait given covariates");
  app.add_option("--prevalence", r.prevalence, "Of binary traits");
  app.add_option("--causal", r.num_causal, "Causal variants of each trait");
  app.add_option("--causal-min-maf", r.causal_min_maf, "Smallest MAF of a causal variant");
  app.add_option("--gapped-traits", r.num_gapped_traits, "So many of the last traits have gaps");
  app.add_option("--gap-share", r.gap_share, "Share of people without such a trait");
  app.add_option("--gaps", t.gaps, "Who lacks it: random, or population (the last one first)");
  app.add_option("--pcs", r.num_pcs, "Principal components among the covariates");
  app.add_option("--batches", r.num_batches, "Levels of the covariate `batch`, 0 for none");
  app.add_option("--covariate-variance", r.covariate_variance, "Explained by covariates");
  app.add_flag("--no-loco", t.no_loco, "Write no predictions");
  app.add_option("--loco-accuracy", r.loco_accuracy, "Squared correlation of prediction and truth");
}

Result<void> Translate(const Translated& t, SimulationRequest& r) {
  TALLELE_ASSIGN(const std::vector<std::string> shares, SplitCommaList(t.maf_mix));
  if (shares.size() != 3) return UsageError("--maf-mix needs three shares, as in 0.5,0.2,0.3");
  for (size_t k = 0; k < 3; ++k) {
    if (ParseDouble(shares[k], &r.maf_mix[k]) != NumberOutcome::kOk) {
      return UsageError("--maf-mix holds '" + shares[k] + "', which is no number");
    }
  }
  if (t.compression == "zlib") {
    r.compression = BgenCompression::kZlib;
  } else if (t.compression == "zstd") {
    r.compression = BgenCompression::kZstd;
  } else if (t.compression == "none") {
    r.compression = BgenCompression::kNone;
  } else {
    return UsageError("--compression is " + t.compression, "Give zlib, zstd or none.");
  }
  if (t.gaps != "random" && t.gaps != "population") {
    return UsageError("--gaps is " + t.gaps, "Give random or population.");
  }
  r.gaps = t.gaps == "population" ? TraitGaps::kPopulation : TraitGaps::kRandom;
  r.write_loco = !t.no_loco;
  r.embed_sample_ids = !t.no_embedded_ids;
  return {};
}

Error UnknownWord(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::string name = word.substr(0, word.find('='));
  std::string advice = DidYouMean(name, names);
  advice += (advice.empty() ? "" : " ") + std::string("See `tallele simulate --help`.");
  return UsageError("simulate does not know " + name, std::move(advice));
}

}  // namespace

int SimulateCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  if (!arguments.empty() && arguments.front() == "ancestry") {
    return SimulateAncestryCommand(arguments.subspan(1), cancel);
  }
  SimulationRequest request;
  Translated translated;
  CLI::App app(
      "tallele simulate: a made-up cohort with genotypes, traits, covariates and predictions; "
      "`tallele simulate ancestry`: a panel of populations",
      "tallele simulate");
  app.allow_extras();
  Declare(app, request, translated);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitSuccess;
  } catch (const CLI::ParseError& failure) {
    return Fail(UsageError(failure.what(), "See `tallele simulate --help`."));
  }
  if (!app.remaining().empty()) return Fail(UnknownWord(app, app.remaining().front()));
  if (const auto done = Translate(translated, request); !done.ok()) return Fail(done.error());
  Console console({});
  const auto summary = Simulate(request, console, cancel);
  if (!summary.ok()) return Fail(summary.error(), cancel.signal_number());
  console.Print(
      fmt::format("Simulated {} people, {} imputed and {} typed variants, {} traits in {:.1f} s:",
                  FormatThousands(static_cast<int64_t>(summary->num_people)),
                  FormatThousands(static_cast<int64_t>(summary->num_variants)),
                  FormatThousands(static_cast<int64_t>(summary->num_array_variants)),
                  summary->num_traits, summary->elapsed_seconds));
  for (const std::string& file : summary->files) console.Print("  " + file);
  return kExitSuccess;
}

}  // namespace tallele

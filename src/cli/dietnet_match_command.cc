#include <fmt/format.h>

#include "ancestry/match.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

void Declare(CLI::App& app, MatchRequest& r, std::string& model, std::string& ambiguous) {
  app.option_defaults()->always_capture_default();
  app.add_option("--model", model, "Folder of packages, or one package");
  app.add_option("--plink", r.calls.plink, "Cohort: prefix of a .bed, .bim and .fam");
  app.add_option("--bgen", r.calls.bgen, "Cohort: a BGEN file, whose calls become hard ones");
  app.add_option("--sample", r.calls.sample, "Oxford sample file of the BGEN");
  app.add_option("--min-call-probability", r.calls.min_call_probability,
                 "A BGEN call is the genotype with at least this probability, else missing");
  app.add_option("--work-dir", r.work_dir,
                 "Folder for matched.store, match_report.tsv and match_summary.json");
  app.add_option("--ambiguous", ambiguous,
                 "A/T and C/G SNPs: face (letters as they stand), drop, or freq (by frequency)");
  app.add_option("--max-mismatch", r.max_mismatch_share,
                 "An error when more of the shared positions have other alleles");
  app.add_option("--warn-swapped", r.warn_swapped_share,
                 "A warning when more of the matched SNPs are swapped or flipped");
  app.add_option("--min-correlation", r.min_correlation,
                 "An error when allele frequencies follow the model's less; -1 allows all");
  app.add_flag(
      "--allow-duplicates", r.calls.allow_duplicate_people,
      "Keep people of a PLINK or BGEN file who have the same FID and IID; else they are an "
      "error");
  app.add_option("--threads", r.rows.num_threads,
                 "Worker threads, 0 for all; never changes a byte");
}

Result<AmbiguousSnps> ParseAmbiguous(const std::string& word) {
  if (word == "face") return AmbiguousSnps::kFaceValue;
  if (word == "drop") return AmbiguousSnps::kDrop;
  if (word == "freq") return AmbiguousSnps::kFrequency;
  return UsageError("--ambiguous is " + word, "Give face, drop or freq.");
}

Result<MatchSummary> RunMatch(MatchRequest& request, const std::string& model,
                              const std::string& ambiguous, Console& console,
                              const CancelToken& cancel) {
  if (model.empty()) return UsageError("match needs --model");
  TALLELE_ASSIGN(request.ambiguous, ParseAmbiguous(ambiguous));
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(model));
  return MatchCohort(packages, request, console, cancel);
}

void PrintSummary(const MatchSummary& s, const std::string& work_dir, Console& console) {
  const auto line = [&](const char* what, size_t count) {
    console.Print(fmt::format("  {:<24} {}", what, FormatThousands(static_cast<int64_t>(count))));
  };
  console.Print(fmt::format("Matched {} of {} SNPs for {} people; scale {}.",
                            FormatThousands(static_cast<int64_t>(s.num_matched)),
                            FormatThousands(static_cast<int64_t>(s.num_model_snps)),
                            FormatThousands(static_cast<int64_t>(s.num_people)),
                            FormatSixDigits(s.scale)));
  line("same alleles", s.num_exact);
  line("swapped", s.num_swapped);
  line("other strand", s.num_flipped);
  line("one allele unknown", s.num_one_allele);
  line("A/T or C/G, kept", s.num_ambiguous);
  line("A/T or C/G, dropped", s.num_ambiguous_dropped);
  line("other alleles", s.num_mismatch);
  line("absent", s.num_absent);
  line("several candidates", s.num_several);
  line("found by identifier", s.num_by_id);
  if (s.correlation) {
    console.Print(fmt::format("  {:<24} {:.4f}", "frequency correlation", *s.correlation));
  }
  for (const char* file : {"/matched.store", "/match_report.tsv", "/match_summary.json"}) {
    console.Print("  " + work_dir + file);
  }
}

}  // namespace

int DietnetMatchCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  MatchRequest request;
  std::string model, ambiguous = "face";
  CLI::App app("Lines a cohort's SNPs and alleles up with a model", "tallele dietnet match");
  Declare(app, request, model, ambiguous);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto summary = RunMatch(request, model, ambiguous, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  PrintSummary(*summary, request.work_dir, console);
  return kExitSuccess;
}

}  // namespace tallele

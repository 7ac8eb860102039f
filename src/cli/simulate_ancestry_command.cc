#include <fmt/format.h>

#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/parse_words.h"
#include "simulate/ancestry_panel.h"

namespace tallele {

int SimulateAncestryCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  AncestryPanelRequest r;
  CLI::App app("A made-up panel of 24 populations for ancestry, with labels",
               "tallele simulate ancestry");
  app.option_defaults()->always_capture_default();
  app.add_option("--out", r.out, "Prefix of .bed, .bim, .fam and _labels.tsv");
  app.add_option("--seed", r.seed, "Of the populations' frequencies");
  app.add_option("--people-seed", r.people_seed, "Of the people: others from the same populations");
  app.add_option("--snps", r.num_snps, "Number of SNPs, independent of each other");
  app.add_option("--fst", r.fst, "Distance of populations from their continental group");
  app.add_option("--missing", r.missing_share, "Share of missing calls");
  app.add_option("--size-factor", r.size_factor, "Times the 2,322 people of the panel");
  app.add_option("--threads", r.num_threads, "Worker threads, 0 for all; never changes a byte");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto summary = SimulateAncestryPanel(r, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  console.Print(fmt::format("Simulated {} people of {} populations with {} SNPs:",
                            FormatThousands(static_cast<int64_t>(summary->num_people)),
                            summary->num_populations,
                            FormatThousands(static_cast<int64_t>(r.num_snps))));
  for (const std::string& file : summary->files) console.Print("  " + file);
  return kExitSuccess;
}

}  // namespace tallele

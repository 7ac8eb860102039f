#include <fmt/format.h>

#include "ancestry/create_dataset.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

void Declare(CLI::App& app, CreateDatasetRequest& r) {
  app.option_defaults()->always_capture_default();
  app.add_option("--plink", r.calls.plink, "Genotypes: prefix of a .bed, .bim and .fam");
  app.add_option("--bgen", r.calls.bgen, "Genotypes: a BGEN file, whose calls become hard ones");
  app.add_option("--sample", r.calls.sample, "Oxford sample file of the BGEN");
  app.add_option("--min-call-probability", r.calls.min_call_probability,
                 "A BGEN call is the genotype with at least this probability, else missing");
  app.add_option("--genotypes", r.text_genotypes,
                 "Genotypes: a table with people in lines and SNPs in columns, tab separated");
  app.add_option("--bim", r.bim, "Alleles of --genotypes; column 5 is the counted one");
  app.add_option("--counted-allele", r.counted_allele,
                 "Instead of --bim, for names like chr1:12345:A:G: first or last");
  app.add_option("--labels,--class-labels", r.labels.path, "Table of labels with a header line");
  app.add_option("--label-column", r.labels.column, "Its column, when there is more than one");
  app.add_option("--regression-labels", r.labels.values_path,
                 "Table of values with a header line, for `train --task regression`");
  app.add_option("--regression-column", r.labels.values_column,
                 "Its column, when there is more than one");
  app.add_flag("--drop-unlabelled", r.labels.drop_unlabelled,
               "Leave people without a label or value out; else they are an error");
  app.add_option("--list-unlabelled", r.labels.list_unlabelled,
                 "Write the names of people without a label or value to this file");
  app.add_flag("--family-in-samples", r.family_in_samples, "Name people FID_IID instead of IID");
  app.add_option("--out", r.out, "The dataset (HDF5); its SNP table goes to <out>.bim");
  app.add_option("--threads", r.rows.num_threads,
                 "Worker threads, 0 for all; never changes a byte");
}

void PrintSummary(const CreateDatasetSummary& s, Console& console) {
  console.Print(fmt::format("Wrote {} people in {} classes{} and {} SNPs; {} calls are missing.",
                            FormatThousands(static_cast<int64_t>(s.num_people)), s.num_classes,
                            s.has_values ? " with regression values" : "",
                            FormatThousands(static_cast<int64_t>(s.num_snps)),
                            FormatThousands(s.num_missing_calls)));
  if (s.num_dropped > 0) {
    console.Print(fmt::format("{} people without a label or value were left out.",
                              FormatThousands(static_cast<int64_t>(s.num_dropped))));
  }
  console.Print("  " + s.dataset);
  if (!s.bim.empty()) console.Print("  " + s.bim);
  if (s.bim.empty()) {
    console.Message(Severity::kWarning,
                    "The alleles are not known, so no .bim was written, and models trained on this "
                    "dataset cannot be matched with a cohort: give --bim or --counted-allele.");
  }
}

}  // namespace

int DietnetCreateDatasetCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  CreateDatasetRequest request;
  CLI::App app("A training dataset from genotypes and labels", "tallele dietnet create-dataset");
  Declare(app, request);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto summary = CreateDataset(request, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  PrintSummary(*summary, console);
  return kExitSuccess;
}

}  // namespace tallele

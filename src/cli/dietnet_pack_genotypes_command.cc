#include <fmt/format.h>

#include "ancestry/create_dataset.h"
#include "ancestry/packed_dataset.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  std::string dataset;
  std::string out;
  CallSourceRequest calls;
  StreamRowsOptions rows;
};

Result<std::string> Pack(const Words& w, Console& console, const CancelToken& cancel) {
  if (w.dataset.empty()) {
    TALLELE_TRY(PackCalls(w.calls, w.out, w.rows, console, cancel));
    return w.out;
  }
  if (!w.out.empty() || !w.calls.plink.empty() || !w.calls.bgen.empty()) {
    return UsageError("--dataset stands alone",
                      "Its packed copy is always <dataset>.packed.store, where it is looked for.");
  }
  return PackDataset(w.dataset, console, cancel);
}

}  // namespace

int DietnetPackGenotypesCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("A 2-bit copy of a dataset's genotypes, or of a genotype file",
               "tallele dietnet pack-genotypes");
  app.option_defaults()->always_capture_default();
  app.add_option("--dataset", words.dataset, "Dataset (HDF5); the copy is <dataset>.packed.store");
  app.add_option("--plink", words.calls.plink, "Instead: prefix of a .bed, .bim and .fam");
  app.add_option("--bgen", words.calls.bgen, "Instead: a BGEN file");
  app.add_option("--sample", words.calls.sample, "Oxford sample file of the BGEN");
  app.add_option("--min-call-probability", words.calls.min_call_probability,
                 "A BGEN call is the genotype with at least this probability, else missing");
  app.add_option("--out", words.out, "The packed file, for --plink and --bgen");
  app.add_option("--threads", words.rows.num_threads,
                 "Worker threads for --plink and --bgen, 0 for all; never changes a byte");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto path = Pack(words, console, cancel);
  if (!path) return Fail(path.error(), cancel.signal_number());
  const auto store = PackedStore::Open(*path);
  if (!store) return Fail(store.error());
  console.Print(fmt::format("Packed {} people x {} SNPs:", store->num_people(), store->num_snps()));
  console.Print("  " + *path);
  return kExitSuccess;
}

}  // namespace tallele

#include <fmt/format.h>

#include "ancestry/model/import_model.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  std::string model;
  std::string out;
  std::string seeds;
  std::string folds;
};

Result<std::vector<std::string>> Export(const Words& w, Console& console,
                                        const CancelToken& cancel) {
  if (w.model.empty() || w.out.empty()) return UsageError("export-package needs --model and --out");
  PackageFilter filter;
  TALLELE_ASSIGN(filter.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(filter.folds, ParseIntegerList(w.folds, "--folds"));
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(w.model, filter));
  return ExportPackages(packages, w.out, console, cancel);
}

}  // namespace

int DietnetExportPackageCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app(
      "Writes packages as PyTorch and NumPy files: model.pt, embedding.npz, input_stats.npz, "
      "snps.txt, allpos.bim, label_mapping.json and metadata.json of each",
      "tallele dietnet export-package");
  app.add_option("--model", words.model, "Folder of packages, or one package");
  app.add_option("--out", words.out, "Folder; each model gets seed_<s>/fold_<f>");
  app.add_option("--seeds", words.seeds, "Only these seeds, as 78,79");
  app.add_option("--folds", words.folds, "Only these folds, from 0");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto folders = Export(words, console, cancel);
  if (!folders) return Fail(folders.error(), cancel.signal_number());
  console.Print(fmt::format("Exported {} model(s):", folders->size()));
  for (const std::string& folder : *folders) console.Print("  " + folder);
  return kExitSuccess;
}

}  // namespace tallele

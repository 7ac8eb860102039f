#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/dietnet_commands.h"
#include "config/nearest_name.h"

namespace tallele {
namespace {

constexpr char kHelp[] =
    "tallele dietnet: ancestry with Diet Networks\n\n"
    "  tallele dietnet create-dataset ...   a training dataset from genotypes and labels\n"
    "  tallele dietnet pack-genotypes ...   a 2-bit copy of a dataset or a genotype file\n"
    "  tallele dietnet partition ...        training, validation and test people of each fold\n"
    "  tallele dietnet compute-input-stats ...  mean and deviation of each SNP in each fold\n"
    "  tallele dietnet generate-embedding ...   genotype frequencies of each class and fold\n"
    "  tallele dietnet train ...            a model for every seed and fold\n"
    "  tallele dietnet match ...            a cohort lined up with a model\n"
    "  tallele dietnet inspect FILE         what a dataset, store or package is\n"
    "  tallele dietnet published ...        the published models, downloaded or at hand, as "
    "packages\n"
    "  tallele dietnet import-package ...   models of upstream, the released bundle or the Python\n"
    "                                       wrapper become packages\n"
    "  tallele dietnet export-package ...   packages go back to PyTorch and NumPy files\n"
    "  tallele dietnet predict ...          ancestry of a cohort with every model of a folder\n"
    "  tallele dietnet evaluate ...         logits and hidden layers of training people\n"
    "  tallele dietnet missing-study ...    accuracy when some of the SNPs are absent\n"
    "  tallele dietnet check ...            accuracy of packages or of predictions\n\n"
    "`tallele dietnet COMMAND --help` explains one command.\n";

struct Command {
  const char* name;
  int (*run)(std::span<const std::string>, const CancelToken&);
};

constexpr Command kCommands[] = {
    {"create-dataset", DietnetCreateDatasetCommand},
    {"pack-genotypes", DietnetPackGenotypesCommand},
    {"partition", DietnetPartitionCommand},
    {"compute-input-stats", DietnetComputeInputStatsCommand},
    {"generate-embedding", DietnetGenerateEmbeddingCommand},
    {"train", DietnetTrainCommand},
    {"match", DietnetMatchCommand},
    {"inspect", DietnetInspectCommand},
    {"published", DietnetPublishedCommand},
    {"import-package", DietnetImportPackageCommand},
    {"export-package", DietnetExportPackageCommand},
    {"predict", DietnetPredictCommand},
    {"evaluate", DietnetEvaluateCommand},
    {"missing-study", DietnetMissingStudyCommand},
    {"check", DietnetCheckCommand},
};

}  // namespace

int DietnetCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    std::fputs(kHelp, stdout);
    return kExitSuccess;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(arguments.subspan(1), cancel);
    names.emplace_back(command.name);
  }
  std::string advice = DidYouMean(name, names);
  advice += std::string(advice.empty() ? "" : " ") + "See `tallele dietnet --help`.";
  return Fail(UsageError("dietnet has no command " + name, std::move(advice)));
}

}  // namespace tallele

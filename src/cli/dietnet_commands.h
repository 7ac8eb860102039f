#ifndef TALLELE_CLI_DIETNET_COMMANDS_H_
#define TALLELE_CLI_DIETNET_COMMANDS_H_

#include <span>
#include <string>

#include "base/cancel_token.h"

namespace tallele {

// The commands of `tallele dietnet`; each takes the words after its name and returns the exit
// code.
int DietnetCreateDatasetCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetPackGenotypesCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetPartitionCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetComputeInputStatsCommand(std::span<const std::string> arguments,
                                    const CancelToken& cancel);
int DietnetGenerateEmbeddingCommand(std::span<const std::string> arguments,
                                    const CancelToken& cancel);
int DietnetMatchCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetInspectCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetImportPackageCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetExportPackageCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetPublishedCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetPredictCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetTrainCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetCheckCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetEvaluateCommand(std::span<const std::string> arguments, const CancelToken& cancel);
int DietnetMissingStudyCommand(std::span<const std::string> arguments, const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_CLI_DIETNET_COMMANDS_H_

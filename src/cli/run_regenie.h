#ifndef TALLELE_CLI_RUN_REGENIE_H_
#define TALLELE_CLI_RUN_REGENIE_H_

#include <span>
#include <string>

#include "base/cancel_token.h"
#include "config/resolve.h"

namespace tallele {

// Plans, runs and reports one scan; the exit code. `arguments` are the words that `options` came
// from, for the log, the manifest and the command that resumes.
int RunRegenie(std::span<const std::string> arguments, ResolvedOptions options,
               const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_CLI_RUN_REGENIE_H_

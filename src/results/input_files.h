#ifndef TALLELE_RESULTS_INPUT_FILES_H_
#define TALLELE_RESULTS_INPUT_FILES_H_

#include <span>
#include <string>

#include "base/file_env.h"
#include "base/result.h"
#include "results/run_manifest.h"

namespace tallele {

// How much of a file its digest covers.
enum class DigestPolicy {
  kWhole,    // every byte
  kSampled,  // files above 16 MiB: size and 256 blocks of 64 KiB, evenly spaced from the first to
             // the last byte; smaller files whole
};

// Absolute and without "." and "..", as manifests hold it.
std::string AbsolutePath(const std::string& path);

// Identity and digest of a file. An error if it changes while it is read.
Result<InputFile> DescribeInput(const std::string& role, const std::string& path,
                                DigestPolicy policy, FileEnv& env = PosixFileEnv());

// An error that names the first input which is no longer what was described.
Result<void> CheckInputsUnchanged(std::span<const InputFile> inputs, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_RESULTS_INPUT_FILES_H_

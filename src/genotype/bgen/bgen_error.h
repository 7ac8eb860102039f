#ifndef TALLELE_GENOTYPE_BGEN_BGEN_ERROR_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_ERROR_H_

#include <cstdint>
#include <string>

#include "base/error.h"

namespace tallele::bgen {

// "path, byte 1234".
inline std::string At(const std::string& path, uint64_t byte) {
  return path + ", byte " + std::to_string(byte);
}

// The file says something that a BGEN file cannot say.
inline Error Damaged(const std::string& path, uint64_t byte, std::string what,
                     std::string found = {}, std::string expected = {}) {
  Error error = InputError(std::move(what), At(path, byte),
                           "The file is damaged or cut short; copy or make it again.");
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

// The same of a variant's genotypes, whose place the caller adds with `WithContext`.
inline Error DamagedRecord(std::string what, std::string found = {}, std::string expected = {}) {
  Error error = InputError(std::move(what), {}, "The file is damaged; copy or make it again.");
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

inline Error Unsupported(const std::string& path, uint64_t byte, std::string what) {
  return UnsupportedError(std::move(what) + " is not supported", At(path, byte),
                          "Convert the file to BGEN 1.2 (layout 2).");
}

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_ERROR_H_

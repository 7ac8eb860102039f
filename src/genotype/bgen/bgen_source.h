#ifndef TALLELE_GENOTYPE_BGEN_BGEN_SOURCE_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_SOURCE_H_

#include <memory>
#include <string>

#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

struct BgenOptions {
  // A .bgi index to check the file against. When empty, `<path>.bgi` is checked if it exists. An
  // index that does not fit is an error when it was named here, else a warning. The file itself
  // is always scanned, so row order is file order with and without an index.
  std::string bgi;
  EventSink* events = nullptr;
  FileEnv* env = nullptr;  // the operating system's files when null
};

// Opens a BGEN file: layouts 1 and 2, uncompressed, zlib or zstd, 1 to 32 bits, phased or not,
// one or two copies a call. Variants of other kinds are handed out with their `VariantState`.
Result<std::unique_ptr<GenotypeSource>> OpenBgen(const std::string& path,
                                                 const BgenOptions& options = {});

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_SOURCE_H_

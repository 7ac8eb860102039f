#ifndef TALLELE_GENOTYPE_BGEN_BGEN_INDEX_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_INDEX_H_

#include <cstdint>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/bgen/bgen_header.h"
#include "genotype/variant_index.h"

namespace tallele::bgen {

// Where a variant's stored genotype bytes are.
struct PayloadLocation {
  uint64_t offset = 0;
  uint32_t stored = 0;    // bytes in the file
  uint32_t inflated = 0;  // bytes after decompression
};

struct Index {
  VariantIndex variants;
  std::vector<PayloadLocation> payloads;
  uint64_t first_record = 0;  // byte offset; each record starts where the one before it ends
};

// Visits every variant's description, skipping the genotypes: a few small reads a variant when
// records are long, large sequential ones when they are short.
Result<Index> ScanVariants(const ReadableFile& file, const Header& header, uint64_t file_size);

// Checks that a .bgi file (BGENIX, SQLite) describes this file: size and first bytes where it
// recorded them, and for every variant the place and length of its record, chromosome,
// position, rsid and alleles.
Result<void> CheckBgi(const std::string& bgi_path, const ReadableFile& file, uint64_t file_size,
                      const Index& index);

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_INDEX_H_

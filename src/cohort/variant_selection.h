#ifndef TALLELE_COHORT_VARIANT_SELECTION_H_
#define TALLELE_COHORT_VARIANT_SELECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/variant_index.h"

namespace tallele {

// Chromosome coding of REGENIE: 1..num_autosomes; X, Y, XY, PAR1, PAR2 are num_autosomes + 1;
// a "chr" prefix (any case) and leading zeros are dropped, so X, chrX and 23 are one. Empty
// for a label that is none of these (MT, contigs).
std::optional<int> ChromosomeCode(std::string_view label, int num_autosomes);

// The part of chromosome X outside the pseudo-autosomal regions, inclusive.
struct NonParRegion {
  uint32_t first = 0;
  uint32_t last = 0;
};
// "b36", "hg18", "b37", "hg19", "b38", "hg38", or "first,last".
Result<NonParRegion> ParseParRegion(std::string_view text);

// A window of one chromosome, inclusive: "CHR:A-B".
struct VariantWindow {
  int chromosome_code = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};
Result<VariantWindow> ParseVariantWindow(std::string_view text, int num_autosomes);

struct VariantSelectionRequest {
  std::vector<std::string> extract_files;  // ids, first token of each line
  std::vector<std::string> exclude_files;
  std::vector<std::string> chromosomes;  // labels; empty: all
  std::optional<VariantWindow> window;
  int num_autosomes = 22;
};

// Which variants of a file are tested, and how many were left out for which reason.
struct VariantSelection {
  std::vector<bool> selected;  // [variant]; empty: all
  size_t num_selected = 0;
  size_t not_extracted = 0;
  size_t excluded = 0;
  size_t other_chromosome = 0;
  size_t outside_window = 0;
  size_t unknown_chromosome = 0;  // label that REGENIE has no code for
  size_t listed_ids_not_found = 0;
};
Result<VariantSelection> SelectVariants(const VariantSelectionRequest& request,
                                        const VariantIndex& variants,
                                        FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_COHORT_VARIANT_SELECTION_H_

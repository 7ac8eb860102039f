#ifndef TALLELE_ANCESTRY_ALLELE_RULES_H_
#define TALLELE_ANCESTRY_ALLELE_RULES_H_

#include <string>
#include <string_view>

#include "genotype/packed/call_strips.h"

namespace tallele {

// How a cohort variant's letters fit a model SNP's, best first.
enum class AlleleFit {
  kExact,
  kSwapped,         // first and second allele change places
  kFlipped,         // letters of the other strand
  kFlippedSwapped,  // both
  kOneAllele,       // one letter is unknown in the cohort, the other fits
  kMismatch,
};

struct AlleleMatch {
  AlleleFit fit = AlleleFit::kMismatch;
  StripUse use = StripUse::kFirst;  // which cohort allele the model counts
  bool palindromic = false;         // A/T or C/G: letters cannot show the strand
};

// Compares a cohort variant's alleles with those of a model SNP, which counts `counted`. Letters
// of either case; the other strand is tried for single letters alone, and not where they are
// palindromic. "0" and "." are unknown.
AlleleMatch CompareAlleles(std::string_view counted, std::string_view other, std::string_view first,
                           std::string_view second);

// "chr1", "1", "CHR1" are "1"; 23, 24, 25 and 26 are X, Y, XY and MT; M is MT.
std::string NormaliseChromosome(std::string_view name);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_ALLELE_RULES_H_

#ifndef TALLELE_ANCESTRY_REFERENCE_BUILD_H_
#define TALLELE_ANCESTRY_REFERENCE_BUILD_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tallele {

// Tells GRCh37 from GRCh38 by the positions of well-known SNPs.
class BuildGuess {
 public:
  // Counts a SNP if it is one of them.
  void Add(std::string_view id, std::string_view chromosome, int64_t position);
  // "GRCh37", "GRCh38", or empty when no known SNP came or they disagree.
  std::string Name() const;

 private:
  int num_37_ = 0;
  int num_38_ = 0;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_REFERENCE_BUILD_H_

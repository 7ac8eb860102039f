#ifndef TALLELE_ASSOC_SAMPLE_GROUP_H_
#define TALLELE_ASSOC_SAMPLE_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assoc/person_set.h"
#include "assoc/scan_axis.h"
#include "kernels/exact_products.h"

namespace tallele {

// Some people of the block: what is summed over them is taken from, or used as, a group's sums.
struct PersonList {
  std::vector<uint32_t> people;  // block positions, ascending
  QuantisedColumns covariates;   // their rows of the basis; empty where no product is wanted

  bool empty() const { return people.empty(); }
};

// Traits with one pattern of missing people share a group. Immutable; the same numbers
// whatever other groups there are.
struct SampleGroup {
  PersonSet mask;                // the group's people, on the base axis
  size_t num_people = 0;         // n
  std::vector<uint32_t> people;  // the mask as block positions, ascending
  bool list_is_complement = false;
  PersonList list;              // used people outside the mask, or the mask itself if that is fewer
  std::vector<uint32_t> males;  // block positions of the mask's males
  std::vector<int64_t> covariate_sums;  // [K] sum of the quantised column over the mask
  // (X'MX)^+ = factor * factor' for X as integers q (the columns' scales are in the factor).
  std::vector<double> factor;  // [K][rank], row-major
  size_t rank = 0;

  bool covers_all() const { return list_is_complement && list.empty(); }
};

// Sums of products of the integer columns 0 .. K-1 over some people; [K][K], symmetric.
using IntegerGram = std::vector<__int128>;
IntegerGram CovariateGram(const QuantisedColumns& columns, size_t num_covariates,
                          std::span<const uint32_t> people);

// Makes groups over one scan axis.
class SampleGroupBuilder {
 public:
  // `covariates`: columns 0 .. num_covariates-1 are the basis on the block axis. `is_male[b]`
  // for base people. The references must outlive the builder.
  SampleGroupBuilder(const ScanAxis& axis, const std::vector<bool>& is_male,
                     const QuantisedColumns& covariates, size_t num_covariates);

  // The group of the people of `mask` (base axis), all of whom are used.
  std::shared_ptr<const SampleGroup> Build(PersonSet mask) const;

 private:
  const ScanAxis& axis_;
  const std::vector<bool>& is_male_;
  const QuantisedColumns& covariates_;
  size_t num_covariates_;
  IntegerGram used_gram_;
  std::vector<int64_t> used_sums_;
};

// Eigenvalues of X'MX below this share of the largest count as zero: the direction is lost
// inside the mask.
inline constexpr double kMaskRankTolerance = 1e-10;

}  // namespace tallele

#endif  // TALLELE_ASSOC_SAMPLE_GROUP_H_

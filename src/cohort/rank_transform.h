#ifndef TALLELE_COHORT_RANK_TRANSFORM_H_
#define TALLELE_COHORT_RANK_TRANSFORM_H_

#include <span>

namespace tallele {

// Rank-inverse-normal transform in place over the values that are not NaN: the average rank of
// equal values, then the normal quantile of (rank - 3/8) / (n + 1/4) (Blom; REGENIE 4.1.2).
void RankInverseNormal(std::span<double> values);

}  // namespace tallele

#endif  // TALLELE_COHORT_RANK_TRANSFORM_H_

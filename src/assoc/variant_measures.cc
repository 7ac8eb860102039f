#include "assoc/variant_measures.h"

#include <algorithm>
#include <limits>

namespace tallele {

VariantMeasures MeasureVariant(const VariantMoments& moments, double denominator,
                               bool has_probabilities, const VariantMoments* males) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  VariantMeasures out;
  out.num_called = moments.num_called;
  out.impute_info = has_probabilities ? 1.0 : kNone;
  out.info_ratio = kNone;
  if (moments.num_called == 0) return out;

  const double n = static_cast<double>(moments.num_called);
  const double copies = 2 * n;
  const double first = static_cast<double>(moments.sum_t) / denominator;
  // Exact complement in integers: D is a whole number.
  const __int128 whole = static_cast<__int128>(denominator) * 2 * moments.num_called;
  const double second = static_cast<double>(whole - moments.sum_t) / denominator;
  out.first_frequency = first / copies;
  out.second_frequency = second / copies;

  double male_first = 0;
  double male_second = 0;
  if (males != nullptr) {
    male_first = static_cast<double>(males->sum_t) / denominator;
    male_second = 2 * static_cast<double>(males->num_called) - male_first;
  }
  out.minor_allele_count = std::min(first - male_first / 2, second - male_second / 2);

  const double product = out.first_frequency * out.second_frequency;
  if (!(product > 0)) return out;
  if (has_probabilities) {
    const double haploid = static_cast<double>(moments.num_haploid);
    const double variance = static_cast<double>(moments.sum_variance) / (denominator * denominator);
    out.impute_info = 1 - variance / (product * (2 * (n - haploid) + haploid));
  }
  const double squares = static_cast<double>(moments.sum_t2) / (denominator * denominator);
  out.info_ratio = (squares - first * first / n) / (copies * product);
  return out;
}

}  // namespace tallele

#include "cohort/rank_transform.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/normal_tail.h"

namespace tallele {

void RankInverseNormal(std::span<double> values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  const double n = static_cast<double>(order.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    const double quantile = NormalQuantile((rank - 0.375) / (n + 0.25));
    for (; begin < end; ++begin) values[order[begin]] = quantile;
  }
}

}  // namespace tallele

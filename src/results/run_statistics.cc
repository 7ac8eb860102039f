#include "results/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tallele {
namespace {

// Median of chi-square with one degree of freedom: the square of the normal quantile at 0.75.
constexpr double kChisqMedian = 0.45493642311957283;

}  // namespace

size_t StreamingMedian::BinOf(double value) {
  if (!(value > 0)) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // [0.5, 1)
  const int octave = exponent - kLowestOctave;
  if (octave < 0) return 0;
  if (octave >= kNumOctaves) return size_t{kNumOctaves} * kBinsPerOctave - 1;
  const auto within = static_cast<size_t>((mantissa - 0.5) * 2 * kBinsPerOctave);
  return static_cast<size_t>(octave) * kBinsPerOctave + within;
}

void StreamingMedian::CountInBin(double value) { ++bins_[BinOf(value)]; }

void StreamingMedian::Add(double value) {
  ++count_;
  if (!bins_.empty()) {
    CountInBin(value);
    return;
  }
  exact_.push_back(value);
  if (exact_.size() <= kExactValues) return;
  bins_.assign(size_t{kNumOctaves} * kBinsPerOctave, 0);
  for (const double stored : exact_) CountInBin(stored);
  exact_ = {};
}

// Value of the `rank`-th smallest (0-based): values of a bin are taken as evenly spread over it.
double StreamingMedian::ValueOfRank(size_t rank) const {
  size_t before = 0;
  size_t bin = 0;
  while (before + bins_[bin] <= rank) before += bins_[bin++];
  const double share = (static_cast<double>(rank - before) + 0.5) / bins_[bin];
  const int octave = static_cast<int>(bin / kBinsPerOctave) + kLowestOctave;
  const double within = static_cast<double>(bin % kBinsPerOctave);
  return std::ldexp(0.5 + (within + share) / (2.0 * kBinsPerOctave), octave);
}

double StreamingMedian::Median() const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const size_t upper = count_ / 2;
  const size_t lower = (count_ - 1) / 2;
  if (!bins_.empty()) return (ValueOfRank(lower) + ValueOfRank(upper)) / 2;
  std::vector<double> values = exact_;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(upper);
  std::nth_element(values.begin(), middle, values.end());
  const double below = lower == upper ? *middle : *std::max_element(values.begin(), middle);
  return (below + *middle) / 2;
}

void TraitStatistics::Add(const ResultTable& table) {
  for (const ResultRow& row : table.rows) {
    ++num_rows_;
    if (!HasStatistic(row.status)) ++num_failed_rows_;
    if (!(row.chisq >= 0) || std::isnan(row.log10p)) continue;
    chisq_.Add(row.chisq);
    if (!top_hit_ || row.log10p > top_hit_->log10p) top_hit_ = row;
  }
}

double TraitStatistics::LambdaGc() const { return chisq_.Median() / kChisqMedian; }

}  // namespace tallele

#ifndef TALLELE_RESULTS_RUN_STATISTICS_H_
#define TALLELE_RESULTS_RUN_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "results/result_table.h"

namespace tallele {

// Median of non-negative values in bounded memory: exact for the first 131,072 values (1 MiB);
// beyond that a histogram with 8,192 bins for each power of two (at most 2 MiB), which is off by
// less than 1.3e-4 relative. The answer does not depend on the order of the values.
class StreamingMedian {
 public:
  void Add(double value);
  size_t count() const { return count_; }
  // Mean of the two middle values for an even count; NaN without values.
  double Median() const;

 private:
  static constexpr size_t kExactValues = 131'072;
  static constexpr int kBinsPerOctave = 8192;
  static constexpr int kLowestOctave = -32;  // smaller values share the first bin
  static constexpr int kNumOctaves = 64;

  static size_t BinOf(double value);
  void CountInBin(double value);
  double ValueOfRank(size_t rank) const;

  size_t count_ = 0;
  std::vector<double> exact_;
  std::vector<uint32_t> bins_;  // empty while `exact_` holds everything
};

// What the end of a run says about a trait.
class TraitStatistics {
 public:
  void Add(const ResultTable& table);

  size_t num_rows() const { return num_rows_; }
  // Rows without a valid test.
  size_t num_failed_rows() const { return num_failed_rows_; }
  // Genomic control: median CHISQ over the median of chi-square with one degree of freedom; NaN
  // without valid rows.
  double LambdaGc() const;
  // The row with the largest LOG10P, the first in variant order among equals.
  const std::optional<ResultRow>& top_hit() const { return top_hit_; }

 private:
  size_t num_rows_ = 0;
  size_t num_failed_rows_ = 0;
  StreamingMedian chisq_;
  std::optional<ResultRow> top_hit_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_RUN_STATISTICS_H_

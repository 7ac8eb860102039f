#ifndef TALLELE_KERNELS_EXACT_PRODUCTS_H_
#define TALLELE_KERNELS_EXACT_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/cpu_target.h"
#include "kernels/pair_rows.h"

namespace tallele {

// Real columns over people, turned once into integers, in the layouts that the product
// kernels read.
//
// Column c becomes q = lrint(x / max|x| * (2^29 - 2^14)), and x is very nearly
// q * scale(c). A column of zeros has scale 0. All that follows is integer arithmetic, so
// products have the same bits for any order of people, block of variants, number of
// threads and instruction set (docs/architecture.md, "Exact products").
class QuantisedColumns {
 public:
  QuantisedColumns() = default;

  // `columns[c]` points to `num_people` finite values. `target` decides the panel layout.
  static QuantisedColumns Quantise(CpuTarget target, std::span<const double* const> columns,
                                   size_t num_people);

  // The same for columns that are made one at a time, so that not all of them exist as doubles at
  // once. `fill(c, values)` writes column c over values that may lie on another axis: value i
  // belongs to person `place[i]`, or to nobody (kNobody) and then counts for the scale alone.
  // People without a value have q = 0.
  static constexpr uint32_t kNobody = UINT32_MAX;
  using FillColumn = std::function<void(size_t column, std::span<double> values)>;
  static QuantisedColumns QuantiseEach(CpuTarget target, size_t num_columns, size_t num_people,
                                       std::span<const uint32_t> place, const FillColumn& fill);

  // The columns `first .. first+count` of the listed people, with the same integers and scales.
  QuantisedColumns Select(std::span<const uint32_t> people, size_t first, size_t count) const;

  size_t num_people() const { return num_people_; }
  size_t num_columns() const { return num_columns_; }
  CpuTarget target() const { return target_; }
  double scale(size_t column) const { return scales_[column]; }
  int64_t sum(size_t column) const { return sums_[column]; }  // of q over all people

  // Row-major integers: q of `person` in column c is row(person)[c]; `row_length()` entries,
  // those past num_columns() are zero.
  const int32_t* row(size_t person) const {
    return reinterpret_cast<const int32_t*>(rows_.data()) + person * row_length_;
  }
  size_t row_length() const { return row_length_; }
  const uint8_t* panel() const { return reinterpret_cast<const uint8_t*>(panel_.data()); }
  size_t MemoryBytes() const;

 private:
  QuantisedColumns(CpuTarget target, size_t num_columns, size_t num_people);
  void BuildPanel();

  CpuTarget target_ = CpuTarget::kScalar;
  size_t num_people_ = 0;
  size_t num_columns_ = 0;
  size_t row_length_ = 0;
  std::vector<double> scales_;
  std::vector<int64_t> sums_;
  AlignedBuffer rows_;
  AlignedBuffer panel_;
};

// Reusable working memory of one thread.
class ProductScratch {
 public:
  AlignedBuffer& buffer() { return buffer_; }

  // Whose kernel the last product with this scratch went through; none before the first one.
  std::optional<CpuTarget> executed() const { return executed_; }
  void set_executed(CpuTarget target) { executed_ = target; }

 private:
  AlignedBuffer buffer_;
  std::optional<CpuTarget> executed_;
};

// out[r * num_columns + c] = sum over people of t(r, person) * q(person, c), exactly.
// `rows.num_people` must equal `columns.num_people()`. |result| < 2^63 for up to 2 * 10^7 people.
void MultiplyPairRows(const PairRows& rows, const QuantisedColumns& columns,
                      ProductScratch& scratch, int64_t* out);

// The same sums for one row given by its carriers: everyone else has the pair `baseline`.
// out[c] = t(baseline) * sum(c) + sum over carriers of (t - t(baseline)) * q.
void MultiplyCarriers(std::span<const uint32_t> people, std::span<const uint16_t> pairs,
                      uint16_t baseline, const QuantisedColumns& columns, int64_t* out);

// The largest number of carriers for which MultiplyCarriers is expected to cost less than a
// dense row, by measurement of both kernels (docs/performance.md).
size_t CarrierBreakEven(CpuTarget target, size_t num_people, size_t num_columns);

}  // namespace tallele

#endif  // TALLELE_KERNELS_EXACT_PRODUCTS_H_

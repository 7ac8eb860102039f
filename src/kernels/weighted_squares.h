#ifndef TALLELE_KERNELS_WEIGHTED_SQUARES_H_
#define TALLELE_KERNELS_WEIGHTED_SQUARES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/exact_products.h"

namespace tallele {

// Some columns of a QuantisedColumns, split into three balanced digits of ten bits, for sums of
// squared numerators:  sum over people of q(person) * t(person)^2, exactly.
//
// With u = t - 255 (|u| <= 255 for whole 8-bit pairs), u^2 - 2^15 fits 16 bits, and
// t^2 = u^2 + 510 u + 255^2, so the squares take one more product than t itself.
class WeightPlanes {
 public:
  WeightPlanes() = default;
  WeightPlanes(const QuantisedColumns& columns, std::span<const size_t> chosen);

  size_t num_weights() const { return columns_.size(); }
  CpuTarget target() const { return target_; }
  size_t num_people() const { return num_people_; }
  // [3][padded people] digits of one weight; q = d0 + 2^10 d1 + 2^20 d2.
  const int16_t* digits(size_t weight) const {
    return reinterpret_cast<const int16_t*>(storage_.data()) + weight * 3 * stride_;
  }
  size_t stride() const { return stride_; }
  int64_t sum(size_t weight) const { return sums_[weight]; }  // of q
  size_t column(size_t weight) const { return columns_[weight]; }
  size_t MemoryBytes() const { return storage_.size(); }

 private:
  CpuTarget target_ = CpuTarget::kScalar;
  size_t num_people_ = 0;
  size_t stride_ = 0;
  std::vector<size_t> columns_;
  std::vector<int64_t> sums_;
  AlignedBuffer storage_;
};

// out[w] = sum of q t^2 over one pair row whose people have b0 + b1 <= 255. `linear[w]` is the
// sum of q t with the same column (from MultiplyPairRows).
void SumWeightedSquares(const WeightPlanes& weights, const uint8_t* row,
                        std::span<const int64_t> linear, __int128* out);

// sum of q(person, column) * (t^2 - t0^2) over carriers, plus t0^2 times the column's sum.
__int128 SumCarrierSquares(std::span<const uint32_t> people, std::span<const uint16_t> pairs,
                           uint16_t baseline, const QuantisedColumns& columns, size_t column);

}  // namespace tallele

#endif  // TALLELE_KERNELS_WEIGHTED_SQUARES_H_

#ifndef TALLELE_ANCESTRY_TRAIN_FLOAT_TABLE_H_
#define TALLELE_ANCESTRY_TRAIN_FLOAT_TABLE_H_

#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "kernels/float_products.h"

namespace tallele {

// Hands out memory that starts on a cache line, where vector loads are fastest.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* pointer, size_t) { ::operator delete(pointer, std::align_val_t{64}); }
  template <typename U>
  bool operator==(const CacheLineAllocator<U>&) const {
    return true;
  }
};

using FloatVector = std::vector<float, CacheLineAllocator<float>>;

// A row-major matrix whose rows are padded with zeros to a multiple of kFloatGroup.
class FloatTable {
 public:
  FloatTable() = default;
  FloatTable(size_t rows, size_t columns) { Resize(rows, columns); }

  // All zeros afterwards.
  void Resize(size_t rows, size_t columns) {
    rows_ = rows;
    columns_ = columns;
    stride_ = PaddedFloats(columns);
    values_.assign(rows * stride_, 0.0f);
  }

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t stride() const { return stride_; }
  float* row(size_t r) { return values_.data() + r * stride_; }
  const float* row(size_t r) const { return values_.data() + r * stride_; }
  float& at(size_t r, size_t c) { return values_[r * stride_ + c]; }
  float at(size_t r, size_t c) const { return values_[r * stride_ + c]; }
  std::span<float> all() { return values_; }
  std::span<const float> all() const { return values_; }
  bool empty() const { return values_.empty(); }
  void SetZero() { values_.assign(values_.size(), 0.0f); }

  FloatTable Transposed() const {
    FloatTable out(columns_, rows_);
    for (size_t r = 0; r < rows_; ++r) {
      for (size_t c = 0; c < columns_; ++c) out.at(c, r) = at(r, c);
    }
    return out;
  }

 private:
  size_t rows_ = 0;
  size_t columns_ = 0;
  size_t stride_ = 0;
  FloatVector values_;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_FLOAT_TABLE_H_

#ifndef TALLELE_BASE_ALIGNED_BUFFER_H_
#define TALLELE_BASE_ALIGNED_BUFFER_H_

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

#include "base/result.h"

namespace tallele {

// Bytes that start on a 64-byte border, for vector loads and cache lines. Move only.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  // From this size on the kernel is asked for huge pages: fewer TLB misses in streaming loops.
  static constexpr std::size_t kHugePageThreshold = std::size_t{4} << 20;

  enum class Fill { kUninitialized, kZero };

  AlignedBuffer() = default;
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;

  // A buffer of `num_bytes` (0 is valid). Error (kIo, out of memory) when it cannot be had.
  static Result<AlignedBuffer> Allocate(std::size_t num_bytes, Fill fill = Fill::kUninitialized);

  // Makes room for at least `num_bytes`; keeps the memory when it is large enough already.
  // The content is not kept when the buffer grows.
  Result<void> Reserve(std::size_t num_bytes);

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // The whole buffer as objects of `T`; a remainder shorter than one `T` is left out.
  template <typename T>
  std::span<T> As() {
    CheckElement<T>();
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  template <typename T>
  std::span<const T> As() const {
    CheckElement<T>();
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }

 private:
  template <typename T>
  static void CheckElement() {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tallele

#endif  // TALLELE_BASE_ALIGNED_BUFFER_H_

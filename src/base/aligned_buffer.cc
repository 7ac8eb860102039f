#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace tallele {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugePagesFrom = size_t{4} << 20;

}  // namespace

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

void AlignedBuffer::Resize(size_t bytes) {
  if (bytes <= capacity_) {
    size_ = bytes;
    return;
  }
  std::free(data_);
  data_ = nullptr;
  size_ = capacity_ = 0;
  const size_t alignment = bytes >= kHugePagesFrom ? kHugePage : kCacheLine;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded < bytes) throw std::bad_alloc();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, rounded) != 0) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
  size_ = bytes;
  capacity_ = rounded;
}

void AlignedBuffer::ResizeZeroed(size_t bytes) {
  Resize(bytes);
  if (bytes > 0) std::memset(data_, 0, bytes);
}

}  // namespace tallele

#include "kernels/exact_products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/product_kernels.h"

namespace tallele {
namespace {

using kernels::kDigitsPerTile;
using kernels::kPeoplePerChunk;
using kernels::kTileBytes;

constexpr double kLargestQ = (1 << 29) - (1 << 14);

bool UsesBytes(CpuTarget target) { return target == CpuTarget::kAmx; }
size_t DigitsPerColumn(CpuTarget target) { return UsesBytes(target) ? 4 : 2; }

size_t NumTiles(CpuTarget target, size_t num_columns) {
  return (num_columns * DigitsPerColumn(target) + kDigitsPerTile - 1) / kDigitsPerTile;
}

size_t NumChunks(size_t num_people) { return (num_people + kPeoplePerChunk - 1) / kPeoplePerChunk; }

// Two digits of base 2^15: q = high * 2^15 + low, both in [-2^14, 2^14].
void StoreInt16Digits(int32_t q, size_t column, size_t num_columns, size_t person_in_chunk,
                      uint8_t* chunk) {
  const int32_t low = ((q + 16384) & 32767) - 16384;
  const int32_t digits[2] = {low, (q - low) >> 15};
  for (size_t k = 0; k < 2; ++k) {
    const size_t digit = k * num_columns + column;
    uint8_t* to = chunk + digit / kDigitsPerTile * kTileBytes + person_in_chunk / 2 * 64 +
                  digit % kDigitsPerTile * 4 + person_in_chunk % 2 * 2;
    const int16_t value = static_cast<int16_t>(digits[k]);
    std::memcpy(to, &value, 2);
  }
}

// Four balanced digits of base 256 of 2q (for b0) and of q (for b1).
void StoreByteDigits(int32_t q, size_t column, size_t num_columns, size_t person_in_chunk,
                     uint8_t* chunk) {
  for (int byte = 0; byte < 2; ++byte) {
    int64_t rest = byte == 0 ? int64_t{2} * q : q;
    for (size_t k = 0; k < 4; ++k) {
      const int64_t digit_value = ((rest + 128) & 255) - 128;
      rest = (rest - digit_value) >> 8;
      const size_t digit = k * num_columns + column;
      chunk[digit / kDigitsPerTile * kTileBytes + person_in_chunk / 2 * 64 +
            digit % kDigitsPerTile * 4 + person_in_chunk % 2 * 2 + byte] =
          static_cast<uint8_t>(digit_value);
    }
  }
}

void MultiplyScalar(const PairRows& rows, const QuantisedColumns& columns, int64_t* out) {
  const size_t num_columns = columns.num_columns();
  std::fill_n(out, rows.num_rows * num_columns, 0);
  for (size_t r = 0; r < rows.num_rows; ++r) {
    const uint8_t* row = rows.row(r);
    int64_t* sums = out + r * num_columns;
    for (size_t i = 0; i < rows.num_people; ++i) {
      const int64_t t = 2 * row[2 * i] + row[2 * i + 1];
      const int32_t* q = columns.row(i);
      for (size_t c = 0; c < num_columns; ++c) sums[c] += t * q[c];
    }
  }
}

// Joins the digits' sums of one row: sum_k base^k * digit_sum[k], plus the centring of t.
void JoinDigits(const int64_t* digit_sums, const QuantisedColumns& columns, int64_t* out) {
  const size_t num_columns = columns.num_columns();
  const bool bytes = UsesBytes(columns.target());
  for (size_t c = 0; c < num_columns; ++c) {
    int64_t sum = 0;
    for (size_t k = DigitsPerColumn(columns.target()); k-- > 0;) {
      sum = sum * (bytes ? 256 : 32768) + digit_sums[k * num_columns + c];
    }
    out[c] = bytes ? sum : sum + 255 * columns.sum(c);
  }
}

// The 16-bit kernels of one instruction set.
struct Int16Kernel {
  CpuTarget target;
  void (*centre)(const uint8_t* row, size_t num_people, int16_t* values);
  void (*multiply)(const kernels::Int16Chunk& chunk);
};

constexpr Int16Kernel kInt16Kernels[] = {
    {CpuTarget::kAvx2, kernels::CentreNumeratorsAvx2, kernels::MultiplyInt16Avx2},
    {CpuTarget::kAvxVnni, kernels::CentreNumeratorsAvx2, kernels::MultiplyInt16AvxVnni},
    {CpuTarget::kAvx512Vnni, kernels::CentreNumeratorsAvx512, kernels::MultiplyInt16Avx512Vnni},
};

// Null for targets that multiply another way.
const Int16Kernel* FindInt16Kernel(CpuTarget target) {
  for (const Int16Kernel& kernel : kInt16Kernels) {
    if (kernel.target == target) return &kernel;
  }
  return nullptr;
}

void MultiplyInt16(const Int16Kernel& kernel, const PairRows& rows, const QuantisedColumns& columns,
                   int64_t* sums, int16_t* values) {
  const size_t num_tiles = NumTiles(columns.target(), columns.num_columns());
  kernels::Int16Chunk chunk;
  chunk.values = values;
  chunk.value_stride = kPeoplePerChunk;
  chunk.num_rows = rows.num_rows;
  chunk.num_tiles = num_tiles;
  chunk.sums = sums;
  chunk.sums_stride = num_tiles * kDigitsPerTile;
  // 255 * 2^14 * 2 * 256 < 2^31, and 510 * 2^14 * 2 * 128 < 2^31 for the low planes.
  chunk.flush_pairs = rows.bound == PairBound::kSumUpTo255 ? 256 : 128;
  const size_t padded = PaddedPeople(rows.num_people);
  for (size_t begin = 0, k = 0; begin < padded; begin += kPeoplePerChunk, ++k) {
    const size_t people = std::min(kPeoplePerChunk, padded - begin);
    for (size_t r = 0; r < rows.num_rows; ++r) {
      kernel.centre(rows.row(r) + 2 * begin, people, values + r * kPeoplePerChunk);
    }
    chunk.panel = columns.panel() + k * num_tiles * kTileBytes;
    chunk.num_pairs = people / 2;
    kernel.multiply(chunk);
  }
}

size_t RoundToLine(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

QuantisedColumns::QuantisedColumns(CpuTarget target, size_t num_columns, size_t num_people)
    : target_(target),
      num_people_(num_people),
      num_columns_(num_columns),
      row_length_((num_columns + 7) / 8 * 8),
      scales_(num_columns, 0.0),
      sums_(num_columns, 0) {
  rows_.ResizeZeroed(num_people * row_length_ * sizeof(int32_t));
}

QuantisedColumns QuantisedColumns::Quantise(CpuTarget target,
                                            std::span<const double* const> columns,
                                            size_t num_people) {
  std::vector<uint32_t> place(num_people);
  std::iota(place.begin(), place.end(), 0u);
  return QuantiseEach(target, columns.size(), num_people, place,
                      [&](size_t c, std::span<double> values) {
                        std::copy_n(columns[c], num_people, values.begin());
                      });
}

QuantisedColumns QuantisedColumns::QuantiseEach(CpuTarget target, size_t num_columns,
                                                size_t num_people, std::span<const uint32_t> place,
                                                const FillColumn& fill) {
  QuantisedColumns q(target, num_columns, num_people);
  int32_t* rows = reinterpret_cast<int32_t*>(q.rows_.data());
  std::vector<double> values(place.size());
  for (size_t c = 0; c < num_columns; ++c) {
    fill(c, values);
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    if (largest == 0) continue;
    q.scales_[c] = largest / kLargestQ;
    int64_t sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (place[i] == kNobody) continue;
      const long value = std::lrint(values[i] / largest * kLargestQ);
      rows[place[i] * q.row_length_ + c] = static_cast<int32_t>(value);
      sum += value;
    }
    q.sums_[c] = sum;
  }
  q.BuildPanel();
  return q;
}

QuantisedColumns QuantisedColumns::Select(std::span<const uint32_t> people, size_t first,
                                          size_t count) const {
  QuantisedColumns q(target_, count, people.size());
  q.scales_.assign(scales_.begin() + static_cast<std::ptrdiff_t>(first),
                   scales_.begin() + static_cast<std::ptrdiff_t>(first + count));
  int32_t* rows = reinterpret_cast<int32_t*>(q.rows_.data());
  for (size_t i = 0; i < people.size(); ++i) {
    const int32_t* from = row(people[i]) + first;
    for (size_t c = 0; c < count; ++c) {
      rows[i * q.row_length_ + c] = from[c];
      q.sums_[c] += from[c];
    }
  }
  q.BuildPanel();
  return q;
}

void QuantisedColumns::BuildPanel() {
  if (target_ == CpuTarget::kScalar) return;
  const size_t num_tiles = NumTiles(target_, num_columns_);
  panel_.ResizeZeroed(NumChunks(num_people_) * num_tiles * kTileBytes);
  uint8_t* panel = reinterpret_cast<uint8_t*>(panel_.data());
  for (size_t i = 0; i < num_people_; ++i) {
    uint8_t* chunk = panel + i / kPeoplePerChunk * num_tiles * kTileBytes;
    const int32_t* q = row(i);
    for (size_t c = 0; c < num_columns_; ++c) {
      if (UsesBytes(target_)) {
        StoreByteDigits(q[c], c, num_columns_, i % kPeoplePerChunk, chunk);
      } else {
        StoreInt16Digits(q[c], c, num_columns_, i % kPeoplePerChunk, chunk);
      }
    }
  }
}

size_t QuantisedColumns::MemoryBytes() const { return rows_.size() + panel_.size(); }

void MultiplyPairRows(const PairRows& rows, const QuantisedColumns& columns,
                      ProductScratch& scratch, int64_t* out) {
  if (rows.num_rows == 0 || columns.num_columns() == 0) return;
  if (columns.target() == CpuTarget::kScalar) {
    scratch.set_executed(CpuTarget::kScalar);
    return MultiplyScalar(rows, columns, out);
  }
  const Int16Kernel* int16_kernel = FindInt16Kernel(columns.target());
  const size_t num_tiles = NumTiles(columns.target(), columns.num_columns());
  const size_t sums_stride = num_tiles * kDigitsPerTile;
  const size_t sums_bytes = RoundToLine(rows.num_rows * sums_stride * sizeof(int64_t));
  const size_t work_bytes = int16_kernel == nullptr
                                ? kernels::TileScratchBytes(rows.num_rows, num_tiles)
                                : rows.num_rows * kPeoplePerChunk * sizeof(int16_t);
  scratch.buffer().Resize(sums_bytes + work_bytes);
  int64_t* sums = reinterpret_cast<int64_t*>(scratch.buffer().data());
  std::byte* work = scratch.buffer().data() + sums_bytes;
  std::memset(sums, 0, sums_bytes);
  if (int16_kernel == nullptr) {
    scratch.set_executed(CpuTarget::kAmx);
    kernels::MultiplyBytesAmx(rows, columns.panel(), num_tiles, sums, work);
  } else {
    scratch.set_executed(int16_kernel->target);
    MultiplyInt16(*int16_kernel, rows, columns, sums, reinterpret_cast<int16_t*>(work));
  }
  for (size_t r = 0; r < rows.num_rows; ++r) {
    JoinDigits(sums + r * sums_stride, columns, out + r * columns.num_columns());
  }
}

namespace kernels {

void SumCarriersScalar(const CarrierSum& s) {
  for (size_t i = 0; i < s.num_carriers; ++i) {
    const int64_t t = 2 * (s.pairs[i] & 255) + (s.pairs[i] >> 8) - s.base;
    const int32_t* q = s.q + s.people[i] * s.row_length;
    for (size_t c = 0; c < s.row_length; ++c) s.out[c] += t * q[c];
  }
}

}  // namespace kernels

void MultiplyCarriers(std::span<const uint32_t> people, std::span<const uint16_t> pairs,
                      uint16_t baseline, const QuantisedColumns& columns, int64_t* out) {
  constexpr size_t kStackColumns = 256;
  int64_t stack[kStackColumns];
  std::vector<int64_t> heap;
  int64_t* sums = stack;
  if (columns.row_length() > kStackColumns) {
    heap.resize(columns.row_length());
    sums = heap.data();
  }
  std::fill_n(sums, columns.row_length(), 0);
  const int32_t base = 2 * (baseline & 255) + (baseline >> 8);
  const kernels::CarrierSum sum{people.data(),  pairs.data(),         people.size(), base,
                                columns.row(0), columns.row_length(), sums};
  if (columns.target() == CpuTarget::kScalar) {
    kernels::SumCarriersScalar(sum);
  } else {
    kernels::SumCarriersAvx2(sum);
  }
  for (size_t c = 0; c < columns.num_columns(); ++c) out[c] = sums[c] + base * columns.sum(c);
}

size_t CarrierBreakEven(CpuTarget target, size_t num_people, size_t num_columns) {
  // Shares of carriers at which both ways cost the same, measured with 41 columns at 50,000 to
  // 200,000 people (docs/performance.md); fewer columns make dense rows cheaper per person.
  double share = 0.01;
  switch (target) {
    case CpuTarget::kScalar:
      share = 0.5;
      break;
    case CpuTarget::kAvx2:
      share = 0.08;
      break;
    case CpuTarget::kAvxVnni:
      share = 0.07;
      break;
    case CpuTarget::kAvx512Vnni:
      share = 0.04;
      break;
    case CpuTarget::kAmx:
      share = 0.015;
      break;
  }
  const double columns = std::min(1.0, 0.5 + static_cast<double>(num_columns) / 82);
  return static_cast<size_t>(share * columns * static_cast<double>(num_people));
}

}  // namespace tallele

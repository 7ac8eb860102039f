#include "kernels/packed_products.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/packed_kernels.h"

namespace tallele {
namespace {

using kernels::kPackedDigits;
using kernels::kPackedLanes;
using kernels::kPackedTileBytes;
using kernels::kRowsPerTile;
using kernels::kSnpsPerChunk;

// Rows that go through the chunks together: 256 KB of decoded bytes, which fit into L2 beside the
// panel's tiles.
constexpr size_t kRowsPerBlock = 256;

struct TargetKernels {
  void (*expand)(const uint8_t*, size_t, uint8_t*);
  void (*multiply)(const kernels::PackedChunk&);
  void (*add_missing)(const kernels::MissingCalls&);
};

TargetKernels KernelsOf(CpuTarget target) {
  switch (target) {
    case CpuTarget::kAvx2:
      return {kernels::ExpandPackedAvx2, kernels::MultiplyPackedAvx2, kernels::AddMissingAvx2};
    case CpuTarget::kAvxVnni:
      return {kernels::ExpandPackedAvx2, kernels::MultiplyPackedAvxVnni, kernels::AddMissingAvx2};
    case CpuTarget::kAvx512Vnni:
      return {kernels::ExpandPackedAvx512, kernels::MultiplyPackedAvx512Vnni,
              kernels::AddMissingAvx512};
    case CpuTarget::kAmx:
      return {kernels::ExpandPackedAvx512, kernels::MultiplyPackedAmx, kernels::AddMissingAvx512};
    case CpuTarget::kScalar:
      break;
  }
  return {kernels::ExpandPackedScalar, kernels::MultiplyPackedScalar, kernels::AddMissingScalar};
}

size_t RoundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

// The missing SNPs among `num_snps` that begin at a byte, ascending.
size_t ListMissing(const uint8_t* packed, size_t num_snps, uint16_t* snps) {
  size_t count = 0;
  for (size_t first = 0; first < num_snps; first += 32) {
    uint64_t word = 0;
    const size_t left = num_snps - first;
    std::memcpy(&word, packed + first / 4, std::min<size_t>(8, (left + 3) / 4));
    uint64_t missing = word & (word >> 1) & 0x5555555555555555;
    if (left < 32) missing &= (uint64_t{1} << (2 * left)) - 1;
    for (; missing != 0; missing &= missing - 1) {
      snps[count++] =
          static_cast<uint16_t>(first + static_cast<size_t>(std::countr_zero(missing)) / 2);
    }
  }
  return count;
}

// One block of rows on its way through the chunks.
class BlockProduct {
 public:
  BlockProduct(CpuTarget target, const PackedRows& rows, size_t first_row, size_t num_rows,
               const PackedColumns& columns, PackedScratch& scratch)
      : kernels_(KernelsOf(target)),
        rows_(rows),
        first_row_(first_row),
        num_rows_(num_rows),
        padded_rows_(RoundUp(num_rows, 2 * kRowsPerTile)),
        columns_(columns),
        width_(columns.num_tiles() * kPackedLanes),
        scratch_(scratch) {
    scratch.decoded.ResizeZeroed(padded_rows_ * kSnpsPerChunk);
    scratch.sums.ResizeZeroed(padded_rows_ * kPackedDigits * width_ * sizeof(int32_t));
    scratch.missing.ResizeZeroed(num_rows_ * width_ * sizeof(int64_t));
  }

  void Run(int64_t* out) {
    for (size_t chunk = 0; chunk * kSnpsPerChunk < columns_.num_snps(); ++chunk) {
      Multiply(chunk);
      AddMissing(chunk);
    }
    for (size_t r = 0; r < num_rows_; ++r) Combine(r, out + r * columns_.num_columns());
  }

 private:
  uint8_t* decoded() { return reinterpret_cast<uint8_t*>(scratch_.decoded.data()); }
  int32_t* sums() { return reinterpret_cast<int32_t*>(scratch_.sums.data()); }
  int64_t* missing() { return reinterpret_cast<int64_t*>(scratch_.missing.data()); }
  size_t SnpsOf(size_t chunk) const {
    return std::min(kSnpsPerChunk, columns_.num_snps() - chunk * kSnpsPerChunk);
  }
  const uint8_t* Packed(size_t row, size_t chunk) const {
    return rows_.row(first_row_ + row) + chunk * kSnpsPerChunk / 4;
  }

  void Multiply(size_t chunk) {
    const size_t snps = RoundUp(SnpsOf(chunk), 64);
    for (size_t r = 0; r < num_rows_; ++r) {
      kernels_.expand(Packed(r, chunk), snps, decoded() + kernels::ExpandedOffset(r, 0));
    }
    kernels_.multiply({decoded(), padded_rows_, columns_.chunk(chunk),
                       kPackedDigits * columns_.num_tiles(), snps / 4, sums()});
  }

  void AddMissing(size_t chunk) {
    std::vector<uint16_t>& snps = scratch_.missing_snps;
    std::vector<uint32_t>& starts = scratch_.row_starts;
    snps.resize(num_rows_ * kSnpsPerChunk);
    starts.assign(1, 0);
    for (size_t r = 0; r < num_rows_; ++r) {
      const size_t count =
          ListMissing(Packed(r, chunk), SnpsOf(chunk), snps.data() + starts.back());
      starts.push_back(starts.back() + static_cast<uint32_t>(count));
    }
    if (starts.back() == 0) return;
    for (size_t g = 0; g < columns_.num_groups(); ++g) {
      const size_t end =
          g + 1 < columns_.num_groups() ? columns_.first_tile(g + 1) : columns_.num_tiles();
      kernels_.add_missing({snps.data(), starts.data(), num_rows_, columns_.chunk(chunk),
                            columns_.num_tiles(), columns_.first_tile(g), end,
                            columns_.means(chunk * kSnpsPerChunk) + g, columns_.num_groups(),
                            missing()});
    }
  }

  void Combine(size_t row, int64_t* out) {
    const size_t digit_tiles = kPackedDigits * columns_.num_tiles();
    const int32_t* block = sums() + row / kRowsPerTile * digit_tiles * kRowsPerTile * kPackedLanes +
                           row % kRowsPerTile * kPackedLanes;
    const size_t next_digit = columns_.num_tiles() * kRowsPerTile * kPackedLanes;
    for (size_t g = 0; g < columns_.num_groups(); ++g) {
      for (size_t c = 0; c < columns_.group_size(g); ++c) {
        const size_t tile = columns_.first_tile(g) + c / kPackedLanes;
        const int32_t* digit = block + tile * kRowsPerTile * kPackedLanes + c % kPackedLanes;
        const int64_t sum =
            digit[0] + int64_t{256} * digit[next_digit] + int64_t{65536} * digit[2 * next_digit];
        *out++ = sum - columns_.mean_sum(g, c) +
                 missing()[(tile * num_rows_ + row) * kPackedLanes + c % kPackedLanes];
      }
    }
  }

  TargetKernels kernels_;
  const PackedRows& rows_;
  size_t first_row_, num_rows_, padded_rows_;
  const PackedColumns& columns_;
  size_t width_;
  PackedScratch& scratch_;
};

}  // namespace

PackedColumns::PackedColumns(size_t num_snps, std::vector<size_t> group_sizes)
    : num_snps_(num_snps), group_sizes_(std::move(group_sizes)) {
  for (const size_t size : group_sizes_) {
    first_tiles_.push_back(num_tiles_);
    num_tiles_ += (size + kPackedLanes - 1) / kPackedLanes;
    num_columns_ += size;
  }
  const size_t chunks = (num_snps + kSnpsPerChunk - 1) / kSnpsPerChunk;
  digits_.ResizeZeroed(chunks * kPackedDigits * num_tiles_ * kPackedTileBytes);
  means_.assign(num_snps * group_sizes_.size(), 0);
  mean_sums_.assign(num_tiles_ * kPackedLanes, 0);
}

size_t PackedColumns::Offset(size_t snp, size_t tile, size_t lane, size_t digit) const {
  const size_t chunk = snp / kSnpsPerChunk;
  const size_t within = snp % kSnpsPerChunk;
  return ((chunk * kPackedDigits + digit) * num_tiles_ + tile) * kPackedTileBytes +
         within / 4 * kPackedLanes * 4 + lane * 4 + within % 4;
}

const int8_t* PackedColumns::chunk(size_t chunk) const {
  return reinterpret_cast<const int8_t*>(digits_.data()) +
         chunk * kPackedDigits * num_tiles_ * kPackedTileBytes;
}

void PackedColumns::Set(size_t snp, size_t group, size_t first, std::span<const int32_t> q) {
  int8_t* digits = reinterpret_cast<int8_t*>(digits_.data());
  for (size_t i = 0; i < q.size(); ++i) {
    assert(q[i] >= -kLargestPackedQ && q[i] <= kLargestPackedQ);
    const size_t column = first + i;
    int32_t rest = q[i];
    for (size_t digit = 0; digit < kPackedDigits; ++digit) {
      const auto low = static_cast<int8_t>(rest & 255);  // balanced: -128 .. 127
      digits[Offset(snp, first_tiles_[group] + column / kPackedLanes, column % kPackedLanes,
                    digit)] = low;
      rest = (rest - low) / 256;
    }
  }
}

void PackedColumns::SetMean(size_t snp, size_t group, float mean) {
  means_[snp * group_sizes_.size() + group] = mean;
}

int32_t PackedColumns::q(size_t snp, size_t group, size_t column) const {
  const int8_t* digits = reinterpret_cast<const int8_t*>(digits_.data());
  const size_t tile = first_tiles_[group] + column / kPackedLanes;
  const size_t lane = column % kPackedLanes;
  return digits[Offset(snp, tile, lane, 0)] + 256 * digits[Offset(snp, tile, lane, 1)] +
         65536 * digits[Offset(snp, tile, lane, 2)];
}

void PackedColumns::Finish() {
  std::fill(mean_sums_.begin(), mean_sums_.end(), 0);
  for (size_t j = 0; j < num_snps_; ++j) {
    for (size_t g = 0; g < group_sizes_.size(); ++g) {
      for (size_t c = 0; c < group_sizes_[g]; ++c) {
        // The product of a float32 and a 24-bit integer is exact in double.
        mean_sums_[first_tiles_[g] * kPackedLanes + c] +=
            static_cast<int64_t>(std::rint(double{mean(j, g)} * q(j, g, c)));
      }
    }
  }
}

int64_t PackedColumns::mean_sum(size_t group, size_t column) const {
  return mean_sums_[first_tiles_[group] * kPackedLanes + column];
}

size_t PackedColumns::MemoryBytes() const {
  return digits_.size() + means_.size() * sizeof(float) + mean_sums_.size() * sizeof(int64_t);
}

void MultiplyPackedRows(CpuTarget target, const PackedRows& rows, const PackedColumns& columns,
                        PackedScratch& scratch, int64_t* out) {
  assert(rows.num_snps == columns.num_snps() && rows.num_snps <= kMostPackedSnps);
  for (size_t first = 0; first < rows.num_rows; first += kRowsPerBlock) {
    const size_t count = std::min(kRowsPerBlock, rows.num_rows - first);
    BlockProduct(target, rows, first, count, columns, scratch)
        .Run(out + first * columns.num_columns());
  }
}

namespace kernels {

void ExpandPackedScalar(const uint8_t* packed, size_t num_snps, uint8_t* values) {
  constexpr uint8_t kValue[4] = {0, 1, 2, 0};
  for (size_t j = 0; j < num_snps; ++j) {
    values[j / 64 * kRowsPerTile * 64 + j % 64] = kValue[packed[j / 4] >> (2 * (j % 4)) & 3];
  }
}

void MultiplyPackedScalar(const PackedChunk& c) {
  for (size_t row = 0; row < c.num_rows; ++row) {
    for (size_t tile = 0; tile < c.num_digit_tiles; ++tile) {
      const int8_t* panel = c.panel + tile * kPackedTileBytes;
      int32_t* sums = c.sums + ((row / kRowsPerTile * c.num_digit_tiles + tile) * kRowsPerTile +
                                row % kRowsPerTile) *
                                   kPackedLanes;
      for (size_t snp = 0; snp < 4 * c.num_groups; ++snp) {
        const int32_t x = c.values[ExpandedOffset(row, snp)];
        if (x == 0) continue;
        const int8_t* digits = panel + snp / 4 * kPackedLanes * 4 + snp % 4;
        for (size_t lane = 0; lane < kPackedLanes; ++lane) sums[lane] += x * digits[4 * lane];
      }
    }
  }
}

void AddMissingScalar(const MissingCalls& m) {
  const size_t next_digit = m.num_tiles * kPackedTileBytes;
  for (size_t tile = m.first_tile; tile < m.end_tile; ++tile) {
    for (size_t row = 0; row < m.num_rows; ++row) {
      int64_t* sums = m.sums + (tile * m.num_rows + row) * kPackedLanes;
      for (size_t i = m.row_starts[row]; i < m.row_starts[row + 1]; ++i) {
        const size_t snp = m.snps[i];
        const double mean = m.means[snp * m.mean_stride];
        const int8_t* digits =
            m.panel + tile * kPackedTileBytes + snp / 4 * kPackedLanes * 4 + snp % 4;
        for (size_t lane = 0; lane < kPackedLanes; ++lane) {
          const int32_t q = digits[4 * lane] + 256 * digits[next_digit + 4 * lane] +
                            65536 * digits[2 * next_digit + 4 * lane];
          sums[lane] += static_cast<int64_t>(std::rint(mean * q));
        }
      }
    }
  }
}

}  // namespace kernels
}  // namespace tallele

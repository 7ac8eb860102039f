#ifndef TALLELE_KERNELS_PACKED_PRODUCTS_H_
#define TALLELE_KERNELS_PACKED_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/cpu_target.h"

namespace tallele {

// Rows of 2-bit genotypes, one person each: SNP j in byte j/4, bits 2*(j mod 4) and up; 0, 1, 2
// copies, 3 = missing. Rows start `stride` bytes apart, a multiple of 64 that holds all SNPs; what
// lies beyond them in a row does not count.
struct PackedRows {
  const uint8_t* data = nullptr;
  size_t stride = 0;
  size_t num_rows = 0;
  size_t num_snps = 0;

  const uint8_t* row(size_t r) const { return data + r * stride; }
};

inline constexpr size_t PackedRowStride(size_t num_snps) { return (num_snps + 255) / 256 * 64; }

// The most that three balanced 8-bit digits reach: 127 * (65536 + 256 + 1).
inline constexpr int32_t kLargestPackedQ = 8355711;

// Integer columns over SNPs, in the layout that the packed product kernels read. Columns come in
// groups; all columns of a group share one mean per SNP (the models of one fold do).
//
// The layout is the same for every instruction set: chunks of 1,024 SNPs, in each a digit of 16
// columns at a time, four SNPs in the four bytes of a lane.
class PackedColumns {
 public:
  // `group_sizes`: the number of columns of each group. All entries start as 0.
  PackedColumns(size_t num_snps, std::vector<size_t> group_sizes);

  // Sets q of one SNP for the `q.size()` columns of `group` from `first` on, |q| <=
  // kLargestPackedQ. Different SNPs may be set by different threads at once.
  void Set(size_t snp, size_t group, size_t first, std::span<const int32_t> q);
  // The mean that missing calls of this group stand for; finite. 0 until set.
  void SetMean(size_t snp, size_t group, float mean);
  int32_t q(size_t snp, size_t group, size_t column) const;
  float mean(size_t snp, size_t group) const { return means_[snp * group_sizes_.size() + group]; }

  // Sums up rint(mean * q) over all SNPs; call it once when everything is set.
  void Finish();

  // That sum, after Finish.
  int64_t mean_sum(size_t group, size_t column) const;

  size_t num_snps() const { return num_snps_; }
  size_t num_columns() const { return num_columns_; }  // over all groups
  size_t num_groups() const { return group_sizes_.size(); }
  size_t group_size(size_t group) const { return group_sizes_[group]; }
  size_t MemoryBytes() const;

  // For the kernels: tiles of 16 columns; each group begins a new one.
  size_t num_tiles() const { return num_tiles_; }
  size_t first_tile(size_t group) const { return first_tiles_[group]; }
  const int8_t* chunk(size_t chunk) const;
  const float* means(size_t snp) const { return means_.data() + snp * group_sizes_.size(); }

 private:
  size_t Offset(size_t snp, size_t tile, size_t lane, size_t digit) const;

  size_t num_snps_;
  std::vector<size_t> group_sizes_;
  std::vector<size_t> first_tiles_;
  size_t num_tiles_ = 0;
  size_t num_columns_ = 0;
  AlignedBuffer digits_;
  std::vector<float> means_;        // [snp][group]
  std::vector<int64_t> mean_sums_;  // [tile * 16 + lane]
};

// Working memory of one thread.
struct PackedScratch {
  AlignedBuffer decoded;
  AlignedBuffer sums;
  AlignedBuffer missing;
  std::vector<uint16_t> missing_snps;
  std::vector<uint32_t> row_starts;
};

// out[r * num_columns + c] = sum over the observed SNPs of row r of x * q(c) - rint(mean * q(c)),
// exactly: the standardised genotypes times the weights, where a missing call counts as the mean.
// The same integers for every target, block of rows and thread. Rows and columns must have the
// same number of SNPs, at most kMostPackedSnps. `out` groups' columns follow each other without
// gaps.
inline constexpr size_t kMostPackedSnps = 8000000;
void MultiplyPackedRows(CpuTarget target, const PackedRows& rows, const PackedColumns& columns,
                        PackedScratch& scratch, int64_t* out);

}  // namespace tallele

#endif  // TALLELE_KERNELS_PACKED_PRODUCTS_H_

// Products of 2-bit rows: every instruction set gives the integers of plain loops, over odd sizes,
// extreme digits, missing calls, groups and canaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/packed_products.h"

namespace tallele {
namespace {

struct PackedBlock {
  AlignedBuffer storage;
  PackedRows rows;

  // `missing_per_mille` of the calls; what lies behind the last SNP is noise.
  PackedBlock(size_t num_rows, size_t num_snps, unsigned missing_per_mille, uint64_t seed) {
    rows.stride = PackedRowStride(num_snps);
    rows.num_rows = num_rows;
    rows.num_snps = num_snps;
    storage.Resize(num_rows * rows.stride);
    uint8_t* data = reinterpret_cast<uint8_t*>(storage.data());
    rows.data = data;
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < num_rows * rows.stride; ++i) {
      uint8_t byte = 0;
      for (int k = 0; k < 4; ++k) {
        const unsigned code = random() % 1000 < missing_per_mille ? 3 : random() % 3;
        byte |= static_cast<uint8_t>(code << (2 * k));
      }
      data[i] = byte;
    }
  }

  unsigned code(size_t row, size_t snp) const {
    return rows.row(row)[snp / 4] >> (2 * (snp % 4)) & 3;
  }
};

// The largest q of either sign, digits of -128 in the low places, and 127.
constexpr int32_t kWorstQ[] = {kLargestPackedQ, -kLargestPackedQ, -8290432, -128, 127, 32895};

PackedColumns MakeColumns(size_t num_snps, const std::vector<size_t>& groups, bool extreme,
                          uint64_t seed) {
  PackedColumns columns(num_snps, groups);
  std::mt19937_64 random(seed);
  for (size_t j = 0; j < num_snps; ++j) {
    for (size_t g = 0; g < groups.size(); ++g) {
      columns.SetMean(j, g, static_cast<float>(random() % 20001) / 10000.0f);
      std::vector<int32_t> q(groups[g]);
      for (size_t c = 0; c < q.size(); ++c) {
        q[c] = extreme
                   ? kWorstQ[c % std::size(kWorstQ)]
                   : static_cast<int32_t>(random() % (2 * kLargestPackedQ + 1)) - kLargestPackedQ;
      }
      columns.Set(j, g, 0, q);
    }
  }
  columns.Finish();
  return columns;
}

std::vector<int64_t> PlainProduct(const PackedBlock& block, const PackedColumns& columns) {
  std::vector<int64_t> out;
  for (size_t r = 0; r < block.rows.num_rows; ++r) {
    for (size_t g = 0; g < columns.num_groups(); ++g) {
      for (size_t c = 0; c < columns.group_size(g); ++c) {
        int64_t sum = 0;
        for (size_t j = 0; j < block.rows.num_snps; ++j) {
          const unsigned code = block.code(r, j);
          if (code == 3) continue;
          const int64_t q = columns.q(j, g, c);
          sum += code * q - std::llrint(static_cast<double>(columns.mean(j, g)) * q);
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

class PackedConformance : public testing::TestWithParam<CpuTarget> {
 protected:
  void SetUp() override {
    const auto supported = SupportedCpuTargets();
    if (std::find(supported.begin(), supported.end(), GetParam()) == supported.end()) {
      GTEST_SKIP() << "not executed on this machine: " << CpuTargetName(GetParam());
    }
  }

  void Check(size_t num_rows, size_t num_snps, const std::vector<size_t>& groups,
             unsigned missing_per_mille, bool extreme = false) {
    const PackedBlock block(num_rows, num_snps, missing_per_mille, num_rows * 7919 + num_snps);
    const PackedColumns columns = MakeColumns(num_snps, groups, extreme, num_snps);
    constexpr int64_t kCanary = 0x7e57ab1e7e57ab1e;
    std::vector<int64_t> out(num_rows * columns.num_columns() + 2, kCanary);
    PackedScratch scratch;
    MultiplyPackedRows(GetParam(), block.rows, columns, scratch, out.data() + 1);
    EXPECT_EQ(out.front(), kCanary);
    EXPECT_EQ(out.back(), kCanary);
    const std::vector<int64_t> got(out.begin() + 1, out.end() - 1);
    EXPECT_EQ(got, PlainProduct(block, columns))
        << num_rows << " rows, " << num_snps << " SNPs, " << columns.num_columns() << " columns";
  }
};

TEST_P(PackedConformance, OddNumbersOfSnps) {
  for (const size_t snps : {1, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 2500}) {
    Check(5, snps, {7}, 10);
  }
}

TEST_P(PackedConformance, OddNumbersOfRows) {
  for (const size_t rows : {1, 2, 15, 16, 17, 31, 32, 33, 47, 255, 256, 257})
    Check(rows, 130, {5}, 10);
}

TEST_P(PackedConformance, OddNumbersOfColumnsAndGroups) {
  for (size_t columns = 1; columns <= 34; ++columns) Check(3, 200, {columns}, 20);
  Check(18, 1300, {100, 100, 100}, 5);
  Check(3, 300, {1, 16, 17, 3}, 5);
}

TEST_P(PackedConformance, LargestDigitsAndManyMissingCalls) {
  Check(17, 3000, {18}, 5, true);
  Check(17, 3000, {18}, 500, true);
  Check(4, 1100, {18}, 1000, true);
  Check(4, 1100, {18}, 0, true);
}

// All genotypes 2 and all digits at their bound: the 16-bit lanes of AVX2 come closest to overflow.
TEST_P(PackedConformance, SumsAtTheBound) {
  constexpr size_t kSnps = 4096;
  PackedBlock block(2, kSnps, 0, 1);
  std::fill_n(reinterpret_cast<uint8_t*>(block.storage.data()), 2 * block.rows.stride,
              uint8_t{0xaa});
  const PackedColumns columns = MakeColumns(kSnps, {6}, true, 2);
  std::vector<int64_t> out(12);
  PackedScratch scratch;
  MultiplyPackedRows(GetParam(), block.rows, columns, scratch, out.data());
  EXPECT_EQ(out, PlainProduct(block, columns));
}

TEST_P(PackedConformance, ScratchMayBeReused) {
  PackedScratch scratch;
  for (const size_t snps : {2000, 70, 1500}) {
    const PackedBlock block(20, snps, 10, snps);
    const PackedColumns columns = MakeColumns(snps, {33}, false, snps);
    std::vector<int64_t> out(20 * 33);
    MultiplyPackedRows(GetParam(), block.rows, columns, scratch, out.data());
    EXPECT_EQ(out, PlainProduct(block, columns));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PackedConformance,
                         testing::ValuesIn(AllCpuTargets().begin(), AllCpuTargets().end()),
                         [](const auto& info) { return std::string(CpuTargetName(info.param)); });

}  // namespace
}  // namespace tallele

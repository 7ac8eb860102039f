// One suite for every instruction set: exact products, moments, carrier lists and gathers must give
// the integers of plain loops, over odd sizes, extremes and canaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/exact_products.h"

namespace tallele {
namespace {

enum class Content { kRandom, kAllFirst, kAllMiddle, kAnyBytes, kLargestBytes };

// Pair rows with what the content asks for, padding zeroed.
struct Block {
  AlignedBuffer storage;
  PairRows rows;

  Block(size_t num_rows, size_t num_people, Content content, uint64_t seed) {
    rows.stride = PairRowStride(num_people);
    rows.num_rows = num_rows;
    rows.num_people = num_people;
    const bool any = content == Content::kAnyBytes || content == Content::kLargestBytes;
    rows.bound = any ? PairBound::kAnyBytes : PairBound::kSumUpTo255;
    storage.ResizeZeroed(num_rows * rows.stride);
    uint8_t* data = reinterpret_cast<uint8_t*>(storage.data());
    rows.data = data;
    std::mt19937_64 random(seed);
    for (size_t r = 0; r < num_rows; ++r) {
      for (size_t i = 0; i < num_people; ++i) {
        uint8_t* pair = data + r * rows.stride + 2 * i;
        const unsigned b0 = random() % 256;
        switch (content) {
          case Content::kRandom:
            pair[0] = b0, pair[1] = random() % (256 - b0);
            break;
          case Content::kAllFirst:
            pair[0] = 255, pair[1] = 0;
            break;
          case Content::kAllMiddle:
            pair[0] = 0, pair[1] = 255;
            break;
          case Content::kAnyBytes:
            pair[0] = b0, pair[1] = random() % 256;
            break;
          case Content::kLargestBytes:
            pair[0] = 255, pair[1] = 255;
            break;
        }
      }
    }
  }
};

// Integers with the largest digits of either sign: the ends of q's range (there the digits of base
// 2^15 are 2^14 and -2^14), three bytes of q or of 2q at -128, and the same at 127.
constexpr double kWorstQ[] = {536854528, -536854528, -8421504, -4210752, 8355711, 4177855};
constexpr double kLargestQ = 536854528;

std::vector<std::vector<double>> MakeColumns(size_t num_columns, size_t num_people, bool extreme,
                                             uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> columns(num_columns, std::vector<double>(num_people));
  for (size_t c = 0; c < num_columns; ++c) {
    const double worst = kWorstQ[c % std::size(kWorstQ)] / kLargestQ;
    for (double& x : columns[c]) x = extreme ? worst : normal(random);
    if (extreme) columns[c][0] = 1;  // sets the scale
  }
  return columns;
}

QuantisedColumns Quantise(CpuTarget target, const std::vector<std::vector<double>>& columns,
                          size_t num_people) {
  std::vector<const double*> pointers;
  for (const auto& column : columns) pointers.push_back(column.data());
  return QuantisedColumns::Quantise(target, pointers, num_people);
}

std::vector<int64_t> PlainProduct(const PairRows& rows, const QuantisedColumns& q) {
  std::vector<int64_t> sums;
  for (size_t r = 0; r < rows.num_rows; ++r) {
    for (size_t c = 0; c < q.num_columns(); ++c) {
      int64_t sum = 0;
      for (size_t i = 0; i < rows.num_people; ++i) {
        const uint8_t* pair = rows.row(r) + 2 * i;
        sum += int64_t{2 * pair[0] + pair[1]} * q.row(i)[c];
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

class Conformance : public testing::TestWithParam<CpuTarget> {
 protected:
  void SetUp() override {
    const auto supported = SupportedCpuTargets();
    if (std::find(supported.begin(), supported.end(), GetParam()) == supported.end()) {
      GTEST_SKIP() << "not executed on this machine: " << CpuTargetName(GetParam());
    }
  }

  void CheckProduct(size_t num_rows, size_t num_people, size_t num_columns, Content content,
                    bool extreme_columns) {
    const Block block(num_rows, num_people, content, num_rows * 7919 + num_people);
    const auto columns = MakeColumns(num_columns, num_people, extreme_columns, num_people);
    const auto q = Quantise(GetParam(), columns, num_people);
    const auto reference = Quantise(CpuTarget::kScalar, columns, num_people);
    constexpr int64_t kCanary = 0x7e57ab1e7e57ab1e;
    std::vector<int64_t> out(num_rows * num_columns + 2, kCanary);
    ProductScratch scratch;
    MultiplyPairRows(block.rows, q, scratch, out.data() + 1);
    EXPECT_EQ(out.front(), kCanary);
    EXPECT_EQ(out.back(), kCanary);
    const std::vector<int64_t> got(out.begin() + 1, out.end() - 1);
    EXPECT_EQ(got, PlainProduct(block.rows, reference))
        << num_rows << " rows, " << num_people << " people, " << num_columns << " columns";
  }
};

TEST_P(Conformance, ProductsOverOddSizes) {
  for (const size_t people : {1, 2, 15, 16, 17, 31, 32, 33, 255, 511, 512, 513, 1023, 2050, 5000}) {
    for (const size_t rows : {1, 5, 6, 7, 13, 33})
      CheckProduct(rows, people, 3, Content::kRandom, false);
  }
  for (size_t columns = 1; columns <= 50; ++columns) {
    CheckProduct(3, 600, columns, Content::kRandom, false);
  }
  for (size_t rows = 1; rows <= 40; ++rows) CheckProduct(rows, 530, 9, Content::kAnyBytes, false);
}

// Every partial sum at its bound: the flush intervals are proved in comments and hit here.
TEST_P(Conformance, ProductsAtTheBounds) {
  for (const Content content :
       {Content::kAllFirst, Content::kAllMiddle, Content::kAnyBytes, Content::kLargestBytes}) {
    for (const bool extreme : {false, true}) CheckProduct(2, 70000, 6, content, extreme);
  }
}

TEST_P(Conformance, SelectedPeopleKeepTheirIntegers) {
  const size_t people = 1500;
  const Block block(7, people, Content::kRandom, 4);
  const auto q = Quantise(GetParam(), MakeColumns(12, people, false, 5), people);
  std::vector<uint32_t> chosen;
  for (uint32_t i = 3; i < people; i += 1 + i % 5) chosen.push_back(i);
  Block gathered(7, chosen.size(), Content::kLargestBytes, 1);
  gathered.rows.bound = PairBound::kSumUpTo255;
  GatherPairs(block.rows, chosen, const_cast<uint8_t*>(gathered.rows.data), gathered.rows.stride);
  const auto part = q.Select(chosen, 2, 9);
  std::vector<int64_t> out(7 * 9);
  ProductScratch scratch;
  MultiplyPairRows(gathered.rows, part, scratch, out.data());
  for (size_t r = 0; r < 7; ++r) {
    for (size_t c = 0; c < 9; ++c) {
      int64_t sum = 0;
      for (const uint32_t i : chosen) {
        const uint8_t* pair = block.rows.row(r) + 2 * i;
        sum += int64_t{2 * pair[0] + pair[1]} * q.row(i)[c + 2];
      }
      EXPECT_EQ(out[r * 9 + c], sum);
    }
  }
}

TEST_P(Conformance, MomentsAreExactAndNeedNoAlignment) {
  for (const size_t people : {1, 15, 16, 33, 1000, 40000}) {
    for (const Content content : {Content::kRandom, Content::kAllFirst, Content::kLargestBytes}) {
      const Block block(1, people, content, people);
      std::vector<uint8_t> moved(2 * people + 1);
      std::memcpy(moved.data() + 1, block.rows.row(0), 2 * people);
      const PairMoments m = ComputePairMoments(GetParam(), moved.data() + 1, people);
      int64_t b = 0, t = 0, t2 = 0;
      for (size_t i = 0; i < people; ++i) {
        const int64_t b0 = block.rows.row(0)[2 * i], b1 = block.rows.row(0)[2 * i + 1];
        b += b0 + b1, t += 2 * b0 + b1, t2 += (2 * b0 + b1) * (2 * b0 + b1);
      }
      EXPECT_EQ(m.sum_b, b);
      EXPECT_EQ(m.sum_t, t);
      EXPECT_EQ(m.sum_t2, t2);
      EXPECT_EQ(m.sum_exceeds_255, content == Content::kLargestBytes);
    }
  }
  // One person over the bound, anywhere, is seen.
  for (size_t at = 0; at < 100; ++at) {
    std::vector<uint8_t> row(200, 0);
    row[2 * at] = 200, row[2 * at + 1] = 56;
    EXPECT_TRUE(ComputePairMoments(GetParam(), row.data(), 100).sum_exceeds_255) << at;
    row[2 * at + 1] = 55;
    EXPECT_FALSE(ComputePairMoments(GetParam(), row.data(), 100).sum_exceeds_255) << at;
  }
}

TEST_P(Conformance, CarriersGiveTheSumsOfTheDenseRow) {
  std::mt19937_64 random(11);
  for (const size_t people : {1, 31, 32, 33, 500, 70000}) {
    for (const uint16_t baseline : {uint16_t{0}, uint16_t{255}}) {
      Block block(1, people, Content::kRandom, people);
      uint8_t* row = const_cast<uint8_t*>(block.rows.row(0));
      for (size_t i = 0; i < people; ++i) {
        if (random() % 10 != 0) row[2 * i] = baseline & 255, row[2 * i + 1] = 0;
      }
      std::vector<uint32_t> who(PaddedPeople(people) + 32);
      std::vector<uint16_t> pairs(PaddedPeople(people) + 32);
      const size_t count =
          ListCarriers(GetParam(), row, people, baseline, who.data(), pairs.data());
      ASSERT_EQ(count, CountCarriers(GetParam(), row, people, baseline));
      who.resize(count), pairs.resize(count);
      EXPECT_TRUE(std::is_sorted(who.begin(), who.end()));
      for (const size_t columns : {1, 8, 23, 41, 300}) {
        const auto q = Quantise(GetParam(), MakeColumns(columns, people, false, 1), people);
        std::vector<int64_t> out(columns);
        MultiplyCarriers(who, pairs, baseline, q, out.data());
        EXPECT_EQ(out, PlainProduct(block.rows, q));
      }
    }
  }
}

TEST_P(Conformance, MissingFlagsAreSeenAnywhere) {
  for (size_t size = 1; size < 100; ++size) {
    std::vector<uint8_t> bytes(size, 2);
    EXPECT_TRUE(NoTopBits(GetParam(), bytes.data(), size));
    for (size_t at = 0; at < size; ++at) {
      bytes[at] = 0x82;
      EXPECT_FALSE(NoTopBits(GetParam(), bytes.data(), size));
      bytes[at] = 2;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Conformance,
                         testing::ValuesIn(AllCpuTargets().begin(), AllCpuTargets().end()),
                         [](const auto& info) { return std::string(CpuTargetName(info.param)); });

}  // namespace
}  // namespace tallele

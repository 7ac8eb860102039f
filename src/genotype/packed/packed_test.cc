#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <vector>

#include "genotype/packed/call_strips.h"
#include "genotype/packed/packed_store.h"
#include "kernels/packed_products.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// PLINK code -> copies of the first allele, written as a table.
constexpr int kFirstCopies[4] = {2, 3, 1, 0};

// Strips of random PLINK codes come out person by person, for numbers of people and variants that
// fill no tile.
TEST(CallStrips, TransposeEqualsPlainLoops) {
  std::mt19937 random(5);
  for (const size_t people : {1u, 3u, 4u, 511u, 513u, 1030u}) {
    for (const size_t variants : {1u, 5u, 256u}) {
      const size_t bytes = (people + 3) / 4;
      std::vector<uint8_t> strips(bytes * variants);
      for (uint8_t& byte : strips) byte = static_cast<uint8_t>(random());
      const std::vector<uint8_t> plink = strips;
      for (size_t v = 0; v < variants; ++v) {
        TranslateStrip(v % 2 ? StripUse::kSecond : StripUse::kFirst,
                       std::span(strips).subspan(v * bytes, bytes));
      }
      std::vector<uint8_t> rows((people + 4) * 64);
      TransposeStrips(strips.data(), bytes, variants, people, rows.data(), 64);
      for (size_t p = 0; p < people; ++p) {
        for (size_t v = 0; v < 256; ++v) {
          int expected = 3;
          if (v < variants) {
            expected = kFirstCopies[plink[v * bytes + p / 4] >> (2 * (p % 4)) & 3];
            if (v % 2 && expected != 3) expected = 2 - expected;
          }
          ASSERT_EQ(rows[p * 64 + v / 4] >> (2 * (v % 4)) & 3, expected) << p << " " << v;
        }
      }
    }
  }
}

TEST(CallStrips, CountsLeaveOutUnusedBits) {
  const std::vector<uint8_t> strip = {0b11100100, 0b11111110};
  const CodeCounts counts = CountCodes(strip, 5);
  EXPECT_EQ(counts.of[0], 1);
  EXPECT_EQ(counts.of[1], 1);
  EXPECT_EQ(counts.of[2], 2);
  EXPECT_EQ(counts.of[3], 1);
}

std::string WriteStore(const TempDir& folder) {
  const std::string path = folder.File("x.packed");
  auto writer = PackedStoreWriter::Create(path, 3, 5);
  EXPECT_TRUE(writer.ok());
  std::vector<uint8_t> rows(3 * 64, 0);
  for (size_t p = 0; p < 3; ++p) rows[p * 64] = static_cast<uint8_t>(0b11100100 + p);
  EXPECT_TRUE(writer->Append(rows).ok());
  EXPECT_TRUE(writer->Commit({{"source", "here"}}).ok());
  return path;
}

TEST(PackedStore, RoundTrip) {
  const TempDir folder;
  const auto store = PackedStore::Open(WriteStore(folder));
  ASSERT_TRUE(store.ok()) << store.error().Message();
  EXPECT_EQ(store->num_people(), 3u);
  EXPECT_EQ(*store->Section("source"), "here");
  EXPECT_FALSE(store->Section("snps").ok());
  std::vector<uint8_t> row(64);
  ASSERT_TRUE(store->Read(2, 1, row).ok());
  EXPECT_EQ(row[0], 0b11100110);
  EXPECT_EQ(row[1], 0b11111100);  // the fifth SNP, then missing calls
  EXPECT_TRUE(store->VerifyRows().ok());
  EXPECT_FALSE(store->Read(2, 2, row).ok());
}

// Every truncation and every changed byte is noticed: outside the rows when the file is opened,
// inside them when they are verified.
TEST(PackedStore, DamageIsNoticed) {
  const TempDir folder;
  const std::string whole = ReadWholeFile(WriteStore(folder));
  for (size_t at = 0; at < whole.size(); at += 7) {
    EXPECT_FALSE(PackedStore::Open(folder.Write("cut", whole.substr(0, at))).ok()) << at;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] ^= 0x10;
    const auto store = PackedStore::Open(folder.Write("changed", changed));
    const bool in_padding_of_start = at >= 32 && at < 64;
    if (in_padding_of_start) continue;
    EXPECT_FALSE(store.ok() && store->VerifyRows().ok()) << at;
  }
}

TEST(PackedStore, MissingRowsAreNotPublished) {
  const TempDir folder;
  auto writer = PackedStoreWriter::Create(folder.File("y"), 2, 5);
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(writer->Commit({}).ok());
}

}  // namespace
}  // namespace tallele

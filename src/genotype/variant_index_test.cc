#include "genotype/variant_index.h"

#include <gtest/gtest.h>

namespace tallele {
namespace {

// What was added comes back, however many alleles the dictionary holds by then.
TEST(VariantIndex, ReturnsWhatWasAdded) {
  VariantIndex index;
  const auto allele = [](size_t i) {
    return i % 3 == 0 ? std::string("A") : std::string(1 + i % 7, 'T') + std::to_string(i);
  };
  const size_t count = 5000;
  for (size_t i = 0; i < count; ++i) {
    const std::string id = i % 10 == 0 ? "" : "rs" + std::to_string(i);
    const std::string first = allele(i), second = allele(i + 1);
    VariantRecord record;
    record.chromosome = i < 3000 ? "1" : "X";
    record.position = static_cast<uint32_t>(4294967295u - i);
    record.id = id;
    record.first_allele = first;
    record.second_allele = second;
    record.num_alleles = i == 7 ? 65535 : 2;
    index.Add(record);
  }
  ASSERT_EQ(index.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const VariantRecord record = index[i];
    EXPECT_EQ(record.chromosome, i < 3000 ? "1" : "X");
    EXPECT_EQ(record.position, 4294967295u - i);
    EXPECT_EQ(record.id, i % 10 == 0 ? "" : "rs" + std::to_string(i));
    EXPECT_EQ(record.first_allele, allele(i));
    EXPECT_EQ(record.second_allele, allele(i + 1));
    EXPECT_EQ(record.num_alleles, i == 7 ? 65535u : 2u);
  }
}

// Runs are contiguous: a label that comes back starts a new run.
TEST(VariantIndex, RunsFollowTheFile) {
  VariantIndex index;
  for (const char* chromosome : {"2", "2", "1", "2", "2", "2"}) {
    VariantRecord record;
    record.chromosome = chromosome;
    index.Add(record);
  }
  const auto& runs = index.runs();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].label, "2");
  EXPECT_EQ(runs[0].range.count, 2u);
  EXPECT_EQ(runs[1].label, "1");
  EXPECT_EQ(runs[1].range.first, 2u);
  EXPECT_EQ(runs[2].range.first, 3u);
  EXPECT_EQ(runs[2].range.count, 3u);
  EXPECT_EQ(index[2].chromosome, "1");
  EXPECT_EQ(index[5].chromosome, "2");
}

// The promise of the header: at most 40 bytes a variant besides identifiers and long alleles.
TEST(VariantIndex, KeepsItsMemoryPromise) {
  VariantIndex index;
  const size_t count = 100000;
  index.Reserve(count);
  size_t text = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string id = "rs" + std::to_string(1000000 + i);
    text += id.size();
    index.Add({"1", static_cast<uint32_t>(i), id, "A", "G", 2});
  }
  // The arena of identifiers grows by doubling.
  EXPECT_LE(index.MemoryBytes(), 40 * count + 2 * text);
}

}  // namespace
}  // namespace tallele

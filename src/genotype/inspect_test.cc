#include "genotype/inspect.h"

#include <gtest/gtest.h>

#include "genotype/bgen/bgen_bytes.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using bgen_bytes::Variant;

// Every count of a file whose content is known.
TEST(InspectGenotypes, CountsWhatTheFileHolds) {
  bgen_bytes::File file;
  file.num_samples = 4;
  file.compression = 2;
  Variant plain, gaps, phased, haploid, three;
  plain.calls.resize(4);
  gaps.calls.resize(4);
  gaps.calls[1].missing = gaps.calls[3].missing = true;
  phased.calls.resize(4);
  phased.phased = true;
  phased.bits = 11;
  haploid.calls.resize(4);
  haploid.calls[0].ploidy = 1;
  haploid.chromosome = "X";
  three.alleles = {"A", "C", "G"};
  three.payload = "unused";
  Variant back = plain;
  file.variants = {plain, gaps, phased, three, haploid, back};
  TempDir dir;
  const auto source = OpenGenotypes(dir.Write("a.bgen", bgen_bytes::FileBytes(file)));
  ASSERT_TRUE(source.ok()) << source.error().Message();
  const auto summary = InspectGenotypes(**source, 100);
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_EQ(summary->format.name, "BGEN");
  EXPECT_EQ(summary->format.layout, "layout 2");
  EXPECT_EQ(summary->format.compression, "zstd");
  EXPECT_EQ(summary->num_samples, 4u);
  EXPECT_EQ(summary->num_variants, 6u);
  EXPECT_EQ(summary->num_multiallelic, 1u);
  ASSERT_EQ(summary->chromosomes.size(), 2u);
  EXPECT_EQ(summary->chromosomes[0].label, "1");
  EXPECT_EQ(summary->chromosomes[0].num_variants, 5u);
  EXPECT_EQ(summary->chromosomes[1].num_variants, 1u);
  EXPECT_EQ(summary->num_decoded, 5u);
  EXPECT_EQ(summary->num_phased, 1u);
  EXPECT_EQ(summary->num_with_haploid, 1u);
  EXPECT_EQ(summary->bits, (std::vector<int>{8, 11}));
  EXPECT_DOUBLE_EQ(summary->missing_share, 2.0 / 20);
}

TEST(InspectGenotypes, AFileWithoutVariantsHasASummaryToo) {
  bgen_bytes::File file;
  file.num_samples = 4;
  TempDir dir;
  const auto source = OpenGenotypes(dir.Write("a.bgen", bgen_bytes::FileBytes(file)));
  ASSERT_TRUE(source.ok()) << source.error().Message();
  const auto summary = InspectGenotypes(**source, 100);
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_EQ(summary->num_variants, 0u);
  EXPECT_EQ(summary->missing_share, 0);
}

}  // namespace
}  // namespace tallele

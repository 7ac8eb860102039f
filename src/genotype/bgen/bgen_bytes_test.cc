#include "genotype/bgen/bgen_bytes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/fixtures.h"

namespace tallele::bgen_bytes {
namespace {

// Sums as their definitions say, over the listed people.
VariantMoments Defined(const Variant& v, const std::vector<uint32_t>& people) {
  const __int128 d = (__int128{1} << v.bits) - 1;
  VariantMoments m;
  for (const uint32_t p : people) {
    const Call& call = v.calls[p];
    if (call.missing || call.ploidy == 0) continue;
    const __int128 a0 = call.a0, a1 = call.a1;
    ++m.num_called;
    __int128 t = 0, variance = 0;
    if (call.ploidy == 1) {
      ++m.num_haploid;
      t = 2 * a0;
      variance = a0 * (d - a0);
    } else if (v.phased) {
      t = a0 + a1;
      variance = a0 * (d - a0) + a1 * (d - a1);
    } else {
      t = 2 * a0 + a1;
      variance = d * (4 * a0 + a1) - t * t;
    }
    m.sum_t += t;
    m.sum_t2 += t * t;
    m.sum_variance += variance;
  }
  return m;
}

void ExpectSame(const VariantMoments& got, const VariantMoments& expected) {
  EXPECT_EQ(got.num_called, expected.num_called);
  EXPECT_EQ(got.num_haploid, expected.num_haploid);
  EXPECT_TRUE(got.sum_t == expected.sum_t);
  EXPECT_TRUE(got.sum_t2 == expected.sum_t2);
  EXPECT_TRUE(got.sum_variance == expected.sum_variance);
}

void ExpectVariant(const VariantBlock& block, const DecodedVariant& got, const Variant& v,
                   const std::vector<uint32_t>& people, std::mt19937& random) {
  ASSERT_EQ(got.state, VariantState::kUsable);
  EXPECT_EQ(got.kind, v.phased ? CallKind::kPhased : CallKind::kUnphased);
  EXPECT_EQ(got.denominator, (uint64_t{1} << v.bits) - 1);
  std::vector<uint32_t> missing, haploid, some, some_of_file;
  for (uint32_t k = 0; k < people.size(); ++k) {
    const Call& call = v.calls[people[k]];
    const bool gap = call.missing || call.ploidy == 0;
    if (gap) missing.push_back(k);
    if (!gap && call.ploidy == 1) haploid.push_back(k);
    const StoredPair pair = PairOf(block, got, k);
    EXPECT_EQ(pair.a0, call.a0);
    EXPECT_EQ(pair.a1, call.ploidy == 1 && v.phased ? call.a0 : call.a1);
    if (random() % 2 == 0) {
      some.push_back(k);
      some_of_file.push_back(people[k]);
    }
  }
  EXPECT_EQ(std::vector<uint32_t>(got.missing.begin(), got.missing.end()), missing);
  EXPECT_EQ(std::vector<uint32_t>(got.haploid.begin(), got.haploid.end()), haploid);
  ExpectSame(got.moments, Defined(v, people));
  ExpectSame(SubsetMoments(block, got, some), Defined(v, some_of_file));
  if (got.is_sparse) return;
  // Kernels count on the padding: it must add nothing.
  const PairRows planes = block.rows(got);
  for (size_t plane = 0; plane < planes.num_rows; ++plane) {
    for (size_t k = 2 * people.size(); k < 2 * PaddedPeople(people.size()); ++k)
      ASSERT_EQ(planes.row(plane)[k], 0);
  }
}

// Depths 1 to 32, phased or not, ploidy 0 to 2 and mixed, gaps, every compression, everyone or
// some people, rows or carriers, every instruction set: always the numbers that were stored.
TEST(BgenBytes, EveryKindOfCallIsReadBack) {
  TempDir dir;
  std::mt19937 random(20260101);
  for (const uint32_t people : {1u, 31u, 64u, 203u}) {
    File file;
    file.num_samples = people;
    file.compression = static_cast<int>(random() % 3);
    for (int bits = 1; bits <= 32; ++bits) {
      for (int kind = 0; kind < 8; ++kind)
        file.variants.push_back(RandomVariant(random, people, bits, kind >= 4, kind % 4));
    }
    const std::string path = dir.Write("made.bgen", FileBytes(file));
    auto source = OpenBgen(path);
    ASSERT_TRUE(source.ok()) << source.error().Message();
    std::vector<uint32_t> everyone, some;
    for (uint32_t i = 0; i < people; ++i) {
      everyone.push_back(i);
      if (i % 3 != 1) some.push_back(i);
    }
    for (const CpuTarget target : SupportedCpuTargets()) {
      for (const bool all : {true, false}) {
        SampleSelection selection{people, std::nullopt};
        if (!all) selection.file_positions = some;
        auto cursor = (*source)->OpenCursor(selection, CarrierPolicy{people / 4}, target);
        ASSERT_TRUE(cursor.ok());
        VariantBlock block;
        ASSERT_TRUE((*cursor)->Read({0, file.variants.size()}).ok());
        const Result<void> done = (*cursor)->Decode(block);
        ASSERT_TRUE(done.ok()) << done.error().Message();
        for (size_t i = 0; i < file.variants.size(); ++i) {
          SCOPED_TRACE(testing::Message() << people << " people, variant " << i << ", all " << all);
          ExpectVariant(block, block.variant(i), file.variants[i], all ? everyone : some, random);
        }
      }
    }
  }
}

// Three numbers a sample in units of 1/32768; all zero is a missing call.
TEST(BgenBytes, Layout1HoldsThreeProbabilities) {
  File file;
  file.layout = 1;
  file.num_samples = 4;
  Variant v;
  v.payload.emplace();
  for (const uint16_t value : {32768, 0, 0, 0, 32768, 0, 0, 0, 0, 8192, 8192, 16384})
    Put(*v.payload, value);
  file.variants = {v};
  TempDir dir;
  for (const int compression : {0, 1}) {
    file.compression = compression;
    auto source = OpenBgen(dir.Write("layout1.bgen", FileBytes(file)));
    ASSERT_TRUE(source.ok()) << source.error().Message();
    auto cursor = (*source)->OpenCursor({4, std::nullopt}, {}, CpuTarget::kScalar);
    VariantBlock block;
    ASSERT_TRUE((*cursor)->Read({0, 1}).ok());
    const Result<void> done = (*cursor)->Decode(block);
    ASSERT_TRUE(done.ok()) << done.error().Message();
    const DecodedVariant& got = block.variant(0);
    EXPECT_EQ(got.denominator, 32768u);
    EXPECT_EQ(PairOf(block, got, 0).a0, 32768u);
    EXPECT_EQ(PairOf(block, got, 1).a1, 32768u);
    EXPECT_EQ(PairOf(block, got, 3).a0, 8192u);
    EXPECT_EQ(PairOf(block, got, 3).a1, 8192u);
    ASSERT_EQ(got.missing.size(), 1u);
    EXPECT_EQ(got.missing[0], 2u);
    EXPECT_EQ(got.moments.num_called, 3);
    // t = 65536, 32768, 24576; variance 32768 * (4 a0 + a1) - t^2 is 0 for certain calls.
    EXPECT_TRUE(got.moments.sum_t == 122880);
    EXPECT_TRUE(got.moments.sum_variance == __int128{32768} * 40960 - __int128{24576} * 24576);
  }
}

// States, not errors, whatever lies beside them in the block.
TEST(BgenBytes, OtherAlleleCountsAndHighPloidyAreStates) {
  File file;
  file.num_samples = 2;
  Variant one, three, high, plain;
  one.alleles = {"A"};
  one.payload = "never looked at";
  three.alleles = {"A", "C", "GTT"};
  three.payload = "nor this";
  high.calls = {{3, false, 0, 0}, {2, false, 255, 0}};
  high.damage = [](std::string& bytes) {
    bytes.resize(12);
    bytes += std::string(5, '\0');
  };
  plain.calls = {{2, false, 255, 0}, {2, false, 0, 255}};
  plain.rsid = "";
  plain.id = "only-id";
  file.variants = {one, three, high, plain};
  TempDir dir;
  auto source = OpenBgen(dir.Write("states.bgen", FileBytes(file)));
  ASSERT_TRUE(source.ok()) << source.error().Message();
  auto cursor = (*source)->OpenCursor({2, std::nullopt}, {}, CpuTarget::kScalar);
  VariantBlock block;
  ASSERT_TRUE((*cursor)->Read({0, 4}).ok());
  const Result<void> done = (*cursor)->Decode(block);
  ASSERT_TRUE(done.ok()) << done.error().Message();
  EXPECT_EQ(block.variant(0).state, VariantState::kNotBiallelic);
  EXPECT_EQ(block.variant(1).state, VariantState::kNotBiallelic);
  EXPECT_EQ(block.variant(2).state, VariantState::kHighPloidy);
  EXPECT_EQ(block.variant(3).state, VariantState::kUsable);
  EXPECT_EQ(PairOf(block, block.variant(3), 1).a1, 255u);
  EXPECT_EQ((*source)->variants()[3].id, "only-id");
  EXPECT_EQ((*source)->variants()[0].second_allele, "");
  EXPECT_EQ((*source)->variants()[1].num_alleles, 3u);
}

TEST(BgenBytes, EmbeddedIdentifiersAreBothIds) {
  File file;
  file.num_samples = 2;
  file.sample_ids = {"F1_I1", "Zo\xc3\xab"};
  Variant v;
  v.calls.resize(2);
  file.variants = {v};
  TempDir dir;
  auto source = OpenBgen(dir.Write("ids.bgen", FileBytes(file)));
  ASSERT_TRUE(source.ok()) << source.error().Message();
  ASSERT_EQ((*source)->samples().size(), 2u);
  EXPECT_EQ((*source)->samples()[0].fid, "F1_I1");
  EXPECT_EQ((*source)->samples()[0].iid, "F1_I1");
  EXPECT_EQ((*source)->samples()[1].iid, "Zo\xc3\xab");
  file.sample_ids[1] = "\xff\xfe";
  EXPECT_NE(FirstError(dir.Write("ids.bgen", FileBytes(file))).find("sample 2 is not valid UTF-8"),
            std::string::npos);
}

TEST(BgenBytes, AFileThatChangesIsNoticed) {
  File file;
  file.num_samples = 1;
  Variant v;
  v.calls.resize(1);
  file.variants = {v};
  TempDir dir;
  const std::string path = dir.Write("moving.bgen", FileBytes(file));
  auto source = OpenBgen(path);
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  const Result<void> changed = (*source)->CheckUnchanged();
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().Message().find(path), std::string::npos);
}

}  // namespace
}  // namespace tallele::bgen_bytes

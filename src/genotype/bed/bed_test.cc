#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "genotype/bed/bed_source.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// Copies of the first allele of everybody; nothing for a missing call.
using Counts = std::vector<std::optional<int>>;

std::vector<Counts> DecodeAll(const GenotypeSource& source, const SampleSelection& selection,
                              CarrierPolicy carriers = {}) {
  std::vector<Counts> variants;
  auto cursor = source.OpenCursor(selection, carriers, SupportedCpuTargets().back());
  EXPECT_TRUE(cursor.ok());
  VariantBlock block;
  EXPECT_TRUE((*cursor)->Read({0, source.variants().size()}).ok());
  EXPECT_TRUE((*cursor)->Decode(block).ok());
  for (size_t v = 0; v < block.num_variants(); ++v) {
    const DecodedVariant& variant = block.variant(v);
    Counts counts;
    int64_t sum = 0;
    for (uint32_t p = 0; p < block.num_people(); ++p) {
      const StoredPair pair = PairOf(block, variant, p);
      counts.emplace_back(static_cast<int>(2 * pair.a0 + pair.a1));
      sum += *counts.back();
    }
    for (const uint32_t p : variant.missing) counts[p] = std::nullopt;
    EXPECT_TRUE(variant.moments.sum_t == sum);
    EXPECT_TRUE(variant.moments.sum_variance == 0);
    variants.push_back(counts);
  }
  return variants;
}

// The format's definition, one person at a time: 00 two, 10 one, 11 none, 01 missing.
std::vector<Counts> PlainDecode(const std::string& bed, size_t num_variants, size_t num_people) {
  const std::string bytes = ReadWholeFile(bed);
  std::vector<Counts> variants;
  for (size_t v = 0; v < num_variants; ++v) {
    Counts counts;
    for (size_t p = 0; p < num_people; ++p) {
      const size_t at = 3 + v * ((num_people + 3) / 4) + p / 4;
      const int code = static_cast<unsigned char>(bytes[at]) >> (2 * (p % 4)) & 3;
      if (code == 1) {
        counts.push_back(std::nullopt);
      } else {
        counts.push_back(code == 0 ? 2 : code == 2 ? 1 : 0);
      }
    }
    variants.push_back(counts);
  }
  return variants;
}

#define REQUIRE_FIXTURES()                                                      \
  const auto shared = SharedFixtures();                                         \
  if (!shared) GTEST_SKIP() << "the shared fixtures are not beside this clone"; \
  const std::string folder = (*shared / "bed-edge").string() + "/"

// small.bed is 6c 1b 01 32 2f 05 33, decoded by hand.
TEST(BedEdge, SmallFile) {
  REQUIRE_FIXTURES();
  const auto source = OpenBed(folder + "small", nullptr);
  ASSERT_TRUE(source.ok()) << source.error().Message();
  const std::vector<Counts> expected = {
      {1, 2, 0}, {0, 0, 1}, {std::nullopt, std::nullopt, 2}, {0, 2, 0}};
  EXPECT_EQ(DecodeAll(**source, {3, std::nullopt}), expected);
  EXPECT_EQ((*source)->samples()[1].iid, "iid2");
  EXPECT_EQ((*source)->samples()[1].sex, Sex::kFemale);
  EXPECT_EQ((*source)->samples()[2].sex, Sex::kUnknown);
  const VariantRecord third = (*source)->variants()[2];
  EXPECT_EQ(third.id, "sid3");
  EXPECT_EQ(third.chromosome, "5");
  EXPECT_EQ(third.position, 1000u);
  EXPECT_EQ(third.second_allele, "C");
  const std::vector<Counts> last_person = {{0}, {1}, {2}, {0}};
  EXPECT_EQ(DecodeAll(**source, {3, std::vector<uint32_t>{2}}), last_person);
}

TEST(BedEdge, DamagedFilesEndInAnErrorThatSaysWhatIsWrong) {
  REQUIRE_FIXTURES();
  TempDir dir;
  const auto with_companions = [&](const char* bed, const char* companions) {
    for (const char* suffix : {".bim", ".fam"}) {
      std::filesystem::copy_file(folder + companions + suffix, dir.File(std::string(bed) + suffix));
    }
    std::filesystem::copy_file(folder + bed + ".bed", dir.File(std::string(bed) + ".bed"));
    return dir.File(bed);
  };
  const std::pair<std::string, const char*> cases[] = {
      {folder + "small_too_short", "small_too_short.bed"},
      {folder + "smallmode0", "ample-major"},
      {with_companions("badfile", "small"), "badfile.bed"},
      {with_companions("smallmodebad", "small"), "smallmodebad.bed"},
      {folder + "nothing_here", "nothing_here"}};
  for (const auto& [path, words] : cases) {
    const auto source = OpenBed(path, nullptr);
    ASSERT_FALSE(source.ok()) << path;
    EXPECT_NE(source.error().Message().find(words), std::string::npos) << source.error().Message();
  }
}

TEST(BedFiles, EveryFormIsThePlainDecode) {
  REQUIRE_FIXTURES();
  const std::pair<std::string, size_t> files[] = {
      {folder + "some_missing", 100},
      {(*shared / "golden" / "array").string(), 2200},
      {(*shared / "1kg-phase1" / "1kg").string(), 1092}};
  for (const auto& [prefix, num_people] : files) {
    const auto source = OpenBed(prefix + ".bed", nullptr);
    ASSERT_TRUE(source.ok()) << source.error().Message();
    ASSERT_EQ((*source)->num_samples(), num_people);
    const auto plain = PlainDecode(prefix + ".bed", (*source)->variants().size(), num_people);
    EXPECT_EQ(DecodeAll(**source, {num_people, std::nullopt}), plain) << prefix;
    EXPECT_EQ(DecodeAll(**source, {num_people, std::nullopt}, CarrierPolicy{num_people / 5}),
              plain);
    SampleSelection some{num_people, std::vector<uint32_t>{}};
    for (uint32_t p = 1; p < num_people; p += 1 + p % 3) some.file_positions->push_back(p);
    const auto selected = DecodeAll(**source, some);
    for (size_t v = 0; v < plain.size(); ++v) {
      for (size_t i = 0; i < some.file_positions->size(); ++i) {
        ASSERT_EQ(selected[v][i], plain[v][(*some.file_positions)[i]]);
      }
    }
  }
}

// Tabs, blanks, CRLF and gzip in the companions read the same.
TEST(BedFiles, CompanionsAreReadTolerantly) {
  TempDir dir;
  dir.Write("a.bed", std::string("\x6c\x1b\x01\x32", 4));
  dir.Write("a.bim", "1 \t rs1  0\t5  A  G \r\n");
  dir.Write("a.fam", "F\tA 0 0\t1 -9\r\nF B 0 0 2 -9\r\nF C 0 0 0 -9\r\n");
  const auto source = OpenBed(dir.File("a"), nullptr);
  ASSERT_TRUE(source.ok()) << source.error().Message();
  EXPECT_EQ((*source)->variants()[0].second_allele, "G");
  EXPECT_EQ(DecodeAll(**source, {3, std::nullopt}), (std::vector<Counts>{{1, 2, 0}}));
  dir.Write("a.bim", "1 rs1 0 5 A\n");
  const auto ragged = OpenBed(dir.File("a"), nullptr);
  ASSERT_FALSE(ragged.ok());
  EXPECT_NE(ragged.error().Message().find("line 1"), std::string::npos) << ragged.error().Message();
}

}  // namespace
}  // namespace tallele

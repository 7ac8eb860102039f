#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/parse_number.h"
#include "base/text_reader.h"
#include "genotype/bgen/bgen_source.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// Dosage of the first allele of every person; NaN for a missing call; empty for a variant that is
// not usable.
using Dosages = std::vector<double>;

struct Decoded {
  std::string error;
  std::vector<VariantState> states;
  std::map<std::string, Dosages> by_id;
  size_t num_sparse = 0;
};

double FirstAlleleDosage(const VariantBlock& block, const DecodedVariant& v, uint32_t person) {
  const StoredPair pair = PairOf(block, v, person);
  const double t =
      v.kind == CallKind::kPhased ? double(pair.a0) + pair.a1 : 2.0 * pair.a0 + pair.a1;
  return t / v.denominator;
}

Decoded DecodeAll(const std::string& path, size_t width = 7, CarrierPolicy carriers = {},
                  std::optional<std::vector<uint32_t>> chosen = std::nullopt) {
  Decoded result;
  auto source = OpenBgen(path);
  if (!source.ok()) return {source.error().Message(), {}, {}, 0};
  SampleSelection selection{(*source)->num_samples(), chosen};
  auto cursor = (*source)->OpenCursor(selection, carriers, SupportedCpuTargets().back());
  EXPECT_TRUE(cursor.ok());
  VariantBlock block;
  const size_t total = (*source)->variants().size();
  for (size_t first = 0; first < total; first += width) {
    Result<void> done = (*cursor)->Read({first, std::min(width, total - first)});
    if (done.ok()) done = (*cursor)->Decode(block);
    if (!done.ok()) {
      result.error = done.error().Message();
      return result;
    }
    for (size_t i = 0; i < block.num_variants(); ++i) {
      const DecodedVariant& v = block.variant(i);
      result.states.push_back(v.state);
      result.num_sparse += v.is_sparse;
      Dosages dosages;
      if (v.state == VariantState::kUsable) {
        __int128 sum = 0;
        for (uint32_t p = 0; p < block.num_people(); ++p) {
          const bool missing = std::find(v.missing.begin(), v.missing.end(), p) != v.missing.end();
          dosages.push_back(missing ? NAN : FirstAlleleDosage(block, v, p));
          if (!missing) sum += std::llround(dosages.back() * v.denominator);
        }
        EXPECT_TRUE(sum == v.moments.sum_t);
        EXPECT_EQ(v.moments.num_called, int64_t(block.num_people() - v.missing.size()));
      }
      const VariantRecord record = (*source)->variants()[first + i];
      result.by_id[std::string(record.id) + ":" + std::to_string(record.position)] = dosages;
    }
  }
  return result;
}

#define REQUIRE_FIXTURES()                                                      \
  const auto shared = SharedFixtures();                                         \
  if (!shared) GTEST_SKIP() << "the shared fixtures are not beside this clone"; \
  const std::string folder = (*shared / "bgen-example").string() + "/"

// First-allele dosages of example.gen.gz, by "id:position".
std::map<std::string, Dosages> ReadGen(const std::string& path) {
  std::map<std::string, Dosages> truth;
  auto reader = LineReader::Open(path);
  std::string_view line;
  std::vector<std::string_view> fields;
  while (*(*reader)->Next(&line)) {
    SplitBlanks(line, fields);
    Dosages dosages;
    for (size_t i = 6; i + 2 < fields.size(); i += 3) {
      double p[3];
      for (int k = 0; k < 3; ++k) EXPECT_EQ(ParseDouble(fields[i + k], &p[k]), NumberOutcome::kOk);
      // The text's own probabilities come from 16-bit data and add up to 1 only nearly.
      const double sum = p[0] + p[1] + p[2];
      dosages.push_back(sum == 0 ? NAN : (2 * p[0] + p[1]) / sum);
    }
    truth[std::string(fields[2]) + ":" + std::string(fields[3])] = dosages;
  }
  return truth;
}

// The reference examples of the format's authors, to each file's own precision.
TEST(BgenExamples, EveryDepthAgreesWithTheTextFile) {
  REQUIRE_FIXTURES();
  const auto truth = ReadGen(folder + "example.gen.gz");
  ASSERT_EQ(truth.size(), 199u);
  const std::map<std::string, double> files = {
      {"example.1bits.bgen", 1},   {"example.2bits.bgen", 2},        {"example.3bits.bgen", 3},
      {"example.4bits.bgen", 4},   {"example.5bits.bgen", 5},        {"example.7bits.bgen", 7},
      {"example.8bits.bgen", 8},   {"example.10bits.bgen", 10},      {"example.13bits.bgen", 13},
      {"example.16bits.bgen", 16}, {"example.16bits.zstd.bgen", 16}, {"example.24bits.bgen", 24},
      {"example.32bits.bgen", 32}, {"example.v11.bgen", 15}};
  for (const auto& [name, bits] : files) {
    const Decoded decoded = DecodeAll(folder + name);
    ASSERT_EQ(decoded.error, "") << name;
    ASSERT_EQ(decoded.by_id.size(), truth.size()) << name;
    // The text holds six digits; each of two stored values is off by less than one unit.
    const double tolerance = 3.0 / (std::exp2(bits) - 1) + 3e-6;
    for (const auto& [id, expected] : truth) {
      ASSERT_TRUE(decoded.by_id.contains(id)) << id;
      const Dosages& got = decoded.by_id.at(id);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(expected[i])) {
          EXPECT_TRUE(std::isnan(got[i])) << name << " " << id << " " << i;
        } else {
          EXPECT_NEAR(got[i], expected[i], tolerance) << name << " " << id << " " << i;
        }
      }
    }
  }
}

// complex.vcf: haploid, diploid and polyploid calls, phased and not, up to eight alleles.
TEST(BgenExamples, MixedPloidyCountsHaploidCallsAsZeroOrTwo) {
  REQUIRE_FIXTURES();
  for (const char* name : {"complex.1bits.bgen", "complex.3bits.bgen", "complex.8bits.bgen",
                           "complex.16bits.bgen", "complex.32bits.bgen"}) {
    const Decoded d = DecodeAll(folder + name);
    ASSERT_EQ(d.error, "") << name;
    const std::vector<VariantState> expected = {
        VariantState::kUsable,       VariantState::kUsable,       VariantState::kUsable,
        VariantState::kNotBiallelic, VariantState::kHighPloidy,   VariantState::kNotBiallelic,
        VariantState::kNotBiallelic, VariantState::kNotBiallelic, VariantState::kNotBiallelic,
        VariantState::kHighPloidy};
    ASSERT_EQ(d.states, expected) << name;
    EXPECT_EQ(d.by_id.at("V1:1"), (Dosages{2, 2, 2, 1})) << name;
    EXPECT_EQ(d.by_id.at("V2:2"), (Dosages{2, 2, 2, 0})) << name;
    EXPECT_EQ(d.by_id.at("V3:3"), (Dosages{2, 0, 2, 1})) << name;
  }
}

TEST(BgenExamples, PhasedHaplotypesAddUp) {
  REQUIRE_FIXTURES();
  const Decoded d = DecodeAll(folder + "haplotypes.bgen");
  ASSERT_EQ(d.error, "");
  // haplotypes.haps: 0 is the first allele.
  EXPECT_EQ(d.by_id.at("RS1:1"), (Dosages{2, 1, 1, 0}));
  EXPECT_EQ(d.by_id.at("RS2:2"), (Dosages{1, 1, 0, 2}));
  EXPECT_EQ(d.by_id.at("RS3:3"), (Dosages{1, 0, 2, 1}));
  EXPECT_EQ(d.by_id.at("RS4:4"), (Dosages{0, 2, 1, 1}));
}

bool SameDosages(const Dosages& a, const Dosages& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  }
  return true;
}

// Carrier lists, selections and block widths are other forms of the same numbers.
TEST(BgenGolden, FormsOfStorageAgree) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "the shared fixtures are not beside this clone";
  const std::string path = (*shared / "golden" / "imputed.bgen").string();
  const Decoded plain = DecodeAll(path, 100);
  ASSERT_EQ(plain.error, "");
  EXPECT_EQ(plain.by_id.size(), 2500u);
  const Decoded zstd = DecodeAll((*shared / "golden" / "imputed_zstd.bgen").string(), 33);
  const Decoded sparse = DecodeAll(path, 100, CarrierPolicy{400});
  EXPECT_GT(sparse.num_sparse, 100u);
  std::vector<uint32_t> chosen;
  for (uint32_t i = 1; i < 2200; i += 1 + i % 3) chosen.push_back(i);
  const Decoded some = DecodeAll(path, 64, CarrierPolicy{100}, chosen);
  for (const auto& [id, dosages] : plain.by_id) {
    EXPECT_TRUE(SameDosages(zstd.by_id.at(id), dosages)) << id;
    EXPECT_TRUE(SameDosages(sparse.by_id.at(id), dosages)) << id;
    Dosages expected;
    for (const uint32_t p : chosen) expected.push_back(dosages[p]);
    EXPECT_TRUE(SameDosages(some.by_id.at(id), expected)) << id;
  }
}

// Every cut and many flipped bytes end in an error that names the file, or change values only.
TEST(BgenDamage, CutsAndFlipsNeverCrash) {
  REQUIRE_FIXTURES();
  TempDir dir;
  const std::string copy = (dir.path() / "damaged.bgen").string();
  for (const char* name : {"complex.8bits.bgen", "haplotypes.bgen", "example.1bits.bgen"}) {
    std::ifstream in(folder + name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const size_t step = 1 + bytes.size() / 400;
    for (size_t cut = 0; cut < bytes.size(); cut += step) {
      std::ofstream(copy, std::ios::binary) << bytes.substr(0, cut);
      const Decoded d = DecodeAll(copy);
      EXPECT_NE(d.error.find(copy), std::string::npos)
          << name << " cut at " << cut << ": " << d.error;
      EXPECT_NE(d.error.find("byte"), std::string::npos) << d.error;
    }
    for (size_t at = 0; at < bytes.size(); at += step) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      std::ofstream(copy, std::ios::binary) << flipped;
      const Decoded d = DecodeAll(copy);
      if (!d.error.empty()) {
        EXPECT_NE(d.error.find(copy), std::string::npos) << d.error;
      }
    }
  }
}

TEST(BgenDamage, ImpossibleCountsAreRefusedBeforeMemoryIsTaken) {
  REQUIRE_FIXTURES();
  TempDir dir;
  const std::string copy = (dir.path() / "damaged.bgen").string();
  std::ifstream in(folder + "haplotypes.bgen", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (const size_t field : {8, 12}) {  // numbers of variants and of samples
    std::string changed = bytes;
    const uint32_t huge = 0xfffffff0;
    std::memcpy(changed.data() + field, &huge, 4);
    std::ofstream(copy, std::ios::binary) << changed;
    EXPECT_NE(DecodeAll(copy).error, "");
  }
}

TEST(BgenIndexFile, AFittingIndexPassesAndAForeignOneIsRefused) {
  REQUIRE_FIXTURES();
  BgenOptions options;
  options.bgi = folder + "example.16bits.bgen.bgi";
  const auto fitting = OpenBgen(folder + "example.16bits.bgen", options);
  EXPECT_TRUE(fitting.ok()) << fitting.error().Message();
  const auto foreign = OpenBgen(folder + "example.8bits.bgen", options);
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().Message().find(".bgi"), std::string::npos);
}

}  // namespace
}  // namespace tallele

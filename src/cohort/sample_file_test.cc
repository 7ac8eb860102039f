#include "cohort/sample_file.h"

#include <gtest/gtest.h>

#include "cohort/sample_lookup.h"
#include "genotype/bgen/bgen_source.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

class SampleFile : public testing::Test {
 protected:
  std::vector<SampleIdentity> Read(const std::string& text, size_t count) {
    auto samples = ReadOxfordSamples(dir_.Write("s", text), count);
    EXPECT_TRUE(samples.ok()) << samples.error().Message();
    return samples.ok() ? *samples : std::vector<SampleIdentity>(count);
  }
  std::string Message(const std::string& text, size_t count) {
    auto samples = ReadOxfordSamples(dir_.Write("s", text), count);
    return samples.ok() ? "" : samples.error().Message();
  }

  TempDir dir_;
};

TEST_F(SampleFile, IdentifiersMayStandAnywhere) {
  const auto samples =
      Read("missing sex ID_2 age ID_1\r\n0 D 0 C 0\r\n0 1 A 50 F\r\n\r\n0\t2  B 61 G\r\n", 2);
  EXPECT_EQ(samples[0].fid, "F");
  EXPECT_EQ(samples[0].iid, "A");
  EXPECT_EQ(samples[0].sex, Sex::kMale);
  EXPECT_EQ(samples[1].fid, "G");
  EXPECT_EQ(samples[1].sex, Sex::kFemale);
}

TEST_F(SampleFile, ReadsTheShortForms) {
  EXPECT_EQ(Read("ID_1 ID_2\n0 0\nF A\n", 1)[0].iid, "A");
  EXPECT_EQ(Read("ID_1 ID_2 missing\n0 0 0\nF A 0\n", 1)[0].sex, Sex::kUnknown);
  const auto one = Read("ID\n0\nA\n", 1);
  EXPECT_EQ(one[0].fid, "A");
  EXPECT_EQ(one[0].iid, "A");
}

TEST_F(SampleFile, SexIsOneOfTheKnownCodes) {
  const auto samples = Read("ID_1 ID_2 sex\n0 0 D\nF A 1\nF B 2\nF C 0\nF D NA\n", 4);
  EXPECT_EQ(samples[1].sex, Sex::kFemale);
  EXPECT_EQ(samples[2].sex, Sex::kUnknown);
  EXPECT_EQ(samples[3].sex, Sex::kUnknown);
  const std::string message = Message("ID_1 ID_2 sex\n0 0 D\nF A male\n", 1);
  for (const char* part : {"line 3", "column sex", "male"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST_F(SampleFile, WrongFilesAreRefusedWithTheirLine) {
  const std::string header = "ID_1 ID_2 missing\n0 0 0\n";
  const std::string count = Message(header + "F A 0\n", 2);
  EXPECT_NE(count.find("found 1, expected 2"), std::string::npos) << count;
  EXPECT_NE(Message(header + "F A 0\nF B\n", 2).find("line 4"), std::string::npos);
  EXPECT_NE(Message(header + "F A 0\nF A 0\n", 2).find("line 3"), std::string::npos);
  EXPECT_NE(Message("ID_1 ID_2\nF A\nF B\n", 2).find("types"), std::string::npos);
  EXPECT_NE(Message("ID_1 ID_2\n", 0).find("types"), std::string::npos);
  EXPECT_NE(Message("FID IID\n0 0\n", 0).find("no column ID_1"), std::string::npos);
  EXPECT_NE(Message("", 0).find("empty"), std::string::npos);
}

// A genotype file with the identifiers that a test gives it, and nothing else.
class NamedPeople final : public GenotypeSource {
 public:
  NamedPeople(std::vector<SampleIdentity> samples, size_t count)
      : samples_(std::move(samples)), count_(count) {}
  const GenotypeFormat& format() const override { return format_; }
  const std::string& path() const override { return path_; }
  const VariantIndex& variants() const override { return variants_; }
  const std::vector<SampleIdentity>& samples() const override { return samples_; }
  size_t num_samples() const override { return count_; }
  Result<std::unique_ptr<GenotypeCursor>> OpenCursor(const SampleSelection&, CarrierPolicy,
                                                     CpuTarget) const override {
    return InternalError("not used");
  }
  Result<void> CheckUnchanged() const override { return {}; }

 private:
  std::vector<SampleIdentity> samples_;
  size_t count_;
  GenotypeFormat format_;
  std::string path_ = "people.bgen";
  VariantIndex variants_;
};

TEST_F(SampleFile, TheSampleFileComesBeforeEmbeddedNames) {
  const NamedPeople source({{"E", "E", Sex::kUnknown}}, 1);
  auto embedded = ResolveSamples(source, "");
  ASSERT_TRUE(embedded.ok());
  EXPECT_EQ((*embedded)[0].iid, "E");
  auto given = ResolveSamples(source, dir_.Write("s", "ID_1 ID_2\n0 0\nF A\n"));
  ASSERT_TRUE(given.ok());
  EXPECT_EQ((*given)[0].iid, "A");
  const std::string message = ResolveSamples(NamedPeople({}, 3), "").error().Message();
  EXPECT_NE(message.find("people.bgen"), std::string::npos);
  EXPECT_NE(message.find("--sample"), std::string::npos);
}

// An embedded identifier is one string, which tables spell as FID_IID or as FID = IID; underscores
// inside identifiers are no separators.
TEST(SampleLookup, EmbeddedNamesAnswerToBothSpellings) {
  const std::vector<SampleIdentity> samples = {
      {"F_1_A", "F_1_A", Sex::kUnknown}, {"S", "S", Sex::kUnknown}, {"F", "B", Sex::kUnknown}};
  auto lookup = SampleLookup::Make(samples);
  ASSERT_TRUE(lookup.ok());
  EXPECT_EQ(lookup->Find("F_1", "A"), 0u);
  EXPECT_EQ(lookup->Find("F_1_A", "F_1_A"), 0u);
  EXPECT_EQ(lookup->Find("S", "S"), 1u);
  EXPECT_EQ(lookup->Find("F", "B"), 2u);
  EXPECT_FALSE(lookup->Find("F", "A"));
  EXPECT_FALSE(lookup->Find("B", "B"));
}

TEST(SampleLookup, PeopleWithOneKeyAreRefused) {
  const std::vector<SampleIdentity> samples = {{"A_B", "C", Sex::kUnknown},
                                               {"A", "B_C", Sex::kUnknown}};
  const auto lookup = SampleLookup::Make(samples);
  ASSERT_FALSE(lookup.ok());
  EXPECT_NE(lookup.error().Message().find("samples 1 and 2"), std::string::npos);
}

// The golden BGEN file names the people of its sample file as FID_IID.
TEST(SampleFixture, EmbeddedNamesAreThoseOfTheSampleFile) {
  const auto fixtures = SharedFixtures();
  if (!fixtures) GTEST_SKIP() << "needs the shared fixtures";
  auto source = OpenBgen((*fixtures / "golden/imputed.bgen").string());
  ASSERT_TRUE(source.ok()) << source.error().Message();
  auto named = ResolveSamples(**source, (*fixtures / "golden/imputed.sample").string());
  auto embedded = ResolveSamples(**source, "");
  ASSERT_TRUE(named.ok() && embedded.ok());
  ASSERT_EQ(named->size(), 2200u);
  ASSERT_EQ(embedded->size(), 2200u);
  EXPECT_EQ((*named)[0].sex, Sex::kMale);
  auto lookup = SampleLookup::Make(*embedded);
  ASSERT_TRUE(lookup.ok());
  for (uint32_t i = 0; i < 2200; ++i) {
    ASSERT_EQ(lookup->Find((*named)[i].fid, (*named)[i].iid), i) << (*named)[i].iid;
  }
}

}  // namespace
}  // namespace tallele

#include "ancestry/match.h"

#include <gtest/gtest.h>

#include <random>

#include "ancestry/model/matched_store.h"
#include "ancestry/reference_build.h"
#include "genotype/writers/bed_writer.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// A line of a cohort's .bim and everybody's copies of its first allele.
struct CohortVariant {
  std::string chromosome;
  uint32_t position;
  std::string id, first, second;
  std::vector<uint8_t> calls;
};

constexpr uint8_t kGone = kMissingHardCall;

std::string WriteCohort(const TempDir& folder, const std::vector<CohortVariant>& variants) {
  std::vector<FamPerson> people;
  for (size_t p = 0; p < variants.front().calls.size(); ++p) {
    people.push_back({{"F" + std::to_string(p), "I" + std::to_string(p), Sex::kUnknown}});
  }
  auto writer = BedWriter::Create(folder.File("cohort"), people);
  EXPECT_TRUE(writer.ok());
  for (const CohortVariant& v : variants) {
    std::vector<uint8_t> bytes;
    std::string line;
    AppendBedRow(v.calls, bytes);
    AppendBimLine({v.chromosome, v.position, v.id, v.first, v.second}, line);
    EXPECT_TRUE((*writer)->Append(bytes, line).ok());
  }
  EXPECT_TRUE((*writer)->Commit().ok());
  return folder.File("cohort");
}

void AddSnp(ModelSnps& snps, const std::string& name, int64_t position, const std::string& counted,
            const std::string& other) {
  snps.names.push_back(name);
  snps.chromosomes.emplace_back("chr1");
  snps.positions.push_back(position);
  snps.counted_alleles.push_back(counted);
  snps.other_alleles.push_back(other);
}

// Packages that hold no more than `match` looks at.
std::vector<ModelPackage> ModelOf(const ModelSnps& snps, const std::vector<double>& means) {
  auto inputs = std::make_shared<FoldInputs>();
  inputs->snps = snps;
  inputs->means = means;
  ModelPackage package;
  package.path = "model";
  package.inputs = inputs;
  return {package};
}

int CodeAt(const std::vector<uint8_t>& row, size_t j) { return row[j / 4] >> (2 * (j % 4)) & 3; }

// One SNP and one cohort variant of three people with 0, 1 copies and no call of the first allele;
// what the three become.
std::vector<int> MatchOne(const std::string& counted, const std::string& other,
                          const std::string& first, const std::string& second,
                          AmbiguousSnps ambiguous = AmbiguousSnps::kFaceValue) {
  const TempDir folder;
  ModelSnps snps;
  AddSnp(snps, "snp", 100, counted, other);
  const std::string plink = WriteCohort(folder, {{"1", 100, "x", first, second, {0, 1, kGone}}});
  NullEventSink events;
  MatchRequest request;
  request.calls.plink = plink;
  request.work_dir = folder.File("work");
  request.ambiguous = ambiguous;
  const auto summary = MatchCohort(ModelOf(snps, {0.4}), request, events, {});
  if (!summary.ok()) return {};
  const auto rows = OpenMatchedStore(request.work_dir + "/matched.store");
  EXPECT_TRUE(rows.ok());
  std::vector<int> values;
  for (size_t p = 0; p < 3; ++p) {
    std::vector<uint8_t> row(64);
    EXPECT_TRUE((*rows)->Read(p, 1, row).ok());
    values.push_back(CodeAt(row, 0));
  }
  return values;
}

using Values = std::vector<int>;
const Values kAsTheyAre = {0, 1, 3}, kTurned = {2, 1, 3}, kNothing = {};

TEST(MatchRules, SameAlleles) { EXPECT_EQ(MatchOne("A", "G", "A", "G"), kAsTheyAre); }
TEST(MatchRules, LowerCaseLetters) { EXPECT_EQ(MatchOne("A", "G", "a", "g"), kAsTheyAre); }
TEST(MatchRules, SwappedAlleles) { EXPECT_EQ(MatchOne("A", "G", "G", "A"), kTurned); }
TEST(MatchRules, OtherStrand) { EXPECT_EQ(MatchOne("A", "G", "T", "C"), kAsTheyAre); }
TEST(MatchRules, OtherStrandSwapped) { EXPECT_EQ(MatchOne("A", "G", "C", "T"), kTurned); }
TEST(MatchRules, PalindromicAtFaceValue) {
  EXPECT_EQ(MatchOne("A", "T", "A", "T"), kAsTheyAre);
  EXPECT_EQ(MatchOne("A", "T", "T", "A"), kTurned);
}
TEST(MatchRules, PalindromicDropped) {
  EXPECT_EQ(MatchOne("A", "T", "A", "T", AmbiguousSnps::kDrop), kNothing);
}
// The model's frequency is 0.2, the cohort's 0.25 as it stands and 0.75 when swapped by letters.
TEST(MatchRules, PalindromicByFrequency) {
  EXPECT_EQ(MatchOne("C", "G", "C", "G", AmbiguousSnps::kFrequency), kAsTheyAre);
  EXPECT_EQ(MatchOne("C", "G", "G", "C", AmbiguousSnps::kFrequency), kAsTheyAre);
}
TEST(MatchRules, UnknownFirstAllele) { EXPECT_EQ(MatchOne("A", "G", "0", "G"), kAsTheyAre); }
TEST(MatchRules, UnknownFirstAlleleEverybodyCounted) {
  EXPECT_EQ(MatchOne("A", "G", "0", "A"), kTurned);
}
TEST(MatchRules, UnknownAlleleOfTheOtherStrand) {
  EXPECT_EQ(MatchOne("A", "G", "0", "C"), kAsTheyAre);
  EXPECT_EQ(MatchOne("A", "G", ".", "T"), kTurned);
}
TEST(MatchRules, ThirdAllele) { EXPECT_EQ(MatchOne("A", "G", "A", "C"), kNothing); }
TEST(MatchRules, IndelsMatchByLettersAlone) {
  EXPECT_EQ(MatchOne("AT", "A", "A", "AT"), kTurned);
  EXPECT_EQ(MatchOne("AT", "A", "TA", "T"), kNothing);
}

TEST(MatchRules, ChromosomeNames) {
  for (const char* name : {"chrX", "23", "X", "x"}) EXPECT_EQ(NormaliseChromosome(name), "X");
  for (const char* name : {"chr1", "1", "01", "CHR1"}) EXPECT_EQ(NormaliseChromosome(name), "1");
  for (const char* name : {"26", "MT", "chrM", "M"}) EXPECT_EQ(NormaliseChromosome(name), "MT");
}

// Exact letters win over swapped ones, then fewer missing calls, then the earlier line; a SNP under
// another name at the model's place is found, one of the model's name elsewhere too.
TEST(Match, CandidatesAreChosenInOrder) {
  const TempDir folder;
  ModelSnps snps;
  AddSnp(snps, "letters", 100, "A", "G");
  AddSnp(snps, "missing", 200, "A", "G");
  AddSnp(snps, "named", 300, "A", "G");
  AddSnp(snps, "absent", 400, "A", "G");
  const std::string plink = WriteCohort(folder, {{"1", 999, "named", "A", "G", {2, 2}},
                                                 {"1", 200, "b1", "A", "G", {1, kGone}},
                                                 {"1", 200, "b2", "A", "G", {2, 0}},
                                                 {"1", 200, "b3", "A", "G", {0, 0}},
                                                 {"chr1", 100, "a1", "G", "A", {0, 0}},
                                                 {"chr1", 100, "a2", "A", "G", {1, 1}}});
  MatchRequest request;
  request.calls.plink = plink;
  request.work_dir = folder.File("work");
  NullEventSink events;
  const auto summary = MatchCohort(ModelOf(snps, {1, 1, 1, 1}), request, events, {});
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_EQ(summary->num_matched, 3u);
  EXPECT_EQ(summary->num_absent, 1u);
  EXPECT_EQ(summary->num_several, 2u);
  EXPECT_EQ(summary->num_other_position, 1u);
  EXPECT_DOUBLE_EQ(summary->scale, 4.0 / 3);
  const auto rows = OpenMatchedStore(request.work_dir + "/matched.store");
  ASSERT_TRUE(rows.ok()) << rows.error().Message();
  EXPECT_EQ((*rows)->model_snps(), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ((*rows)->people()[1].individual, "I1");
  std::vector<uint8_t> row(64);
  ASSERT_TRUE((*rows)->Read(0, 1, row).ok());
  EXPECT_EQ((Values{CodeAt(row, 0), CodeAt(row, 1), CodeAt(row, 2)}), (Values{1, 2, 2}));
  const std::string report = ReadWholeFile(folder.File("work/match_report.tsv"));
  EXPECT_NE(report.find("missing\tchr1\t200\tA\tG\texact\t0\t3\tposition\t3\tb2\t200"),
            std::string::npos)
      << report;
}

// 2,000 SNPs; some are swapped and some on the other strand in the cohort's files.
class MatchPanel : public testing::Test {
 protected:
  void Make(double swapped, double flipped, bool wrong_alleles, bool wrong_frequencies) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform;
    std::vector<CohortVariant> variants;
    for (uint32_t j = 0; j < 2000; ++j) {
      const double frequency = 0.05 + 0.9 * uniform(random);
      means_.push_back(wrong_frequencies ? 2 - 2 * frequency : 2 * frequency);
      AddSnp(snps_, "s" + std::to_string(j), 100 + j, "A", "G");
      CohortVariant v{"1", 100 + j, "c" + std::to_string(j), "A", "G", {}};
      for (size_t p = 0; p < 530; ++p) {
        v.calls.push_back(uniform(random) < 0.02
                              ? kGone
                              : static_cast<uint8_t>((uniform(random) < frequency) +
                                                     (uniform(random) < frequency)));
      }
      truth_.push_back(v.calls);
      if (uniform(random) < swapped) {
        std::swap(v.first, v.second);
        for (uint8_t& call : v.calls) call = call == kGone ? call : static_cast<uint8_t>(2 - call);
      }
      if (uniform(random) < flipped) {
        for (std::string* letter : {&v.first, &v.second}) *letter = *letter == "A" ? "T" : "C";
      }
      if (wrong_alleles && j % 3 == 0) v.second = "T";
      variants.push_back(v);
    }
    request_.calls.plink = WriteCohort(folder_, variants);
    request_.work_dir = folder_.File("work");
  }
  Result<MatchSummary> Run() { return MatchCohort(ModelOf(snps_, means_), request_, events_, {}); }

  TempDir folder_;
  ModelSnps snps_;
  std::vector<double> means_;
  std::vector<std::vector<uint8_t>> truth_;
  MatchRequest request_;
  NullEventSink events_;
};

// Mended rows are the rows of the cohort that needed no mending, for any block and thread count.
TEST_F(MatchPanel, SwapsAndFlipsAreMended) {
  Make(0.3, 0.05, false, false);
  request_.rows = {.num_threads = 3, .block_bytes = 1};
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_EQ(summary->num_matched, 2000u);
  EXPECT_GT(summary->num_swapped, 500u);
  EXPECT_GT(summary->num_flipped, 50u);
  EXPECT_GT(*summary->correlation, 0.98);
  const auto rows = OpenMatchedStore(request_.work_dir + "/matched.store");
  ASSERT_TRUE(rows.ok());
  for (size_t p = 0; p < 530; ++p) {
    std::vector<uint8_t> row(512);
    ASSERT_TRUE((*rows)->Read(p, 1, row).ok());
    for (size_t j = 0; j < 2000; ++j) ASSERT_EQ(CodeAt(row, j), truth_[j][p]) << p << " " << j;
  }
  const std::string first = ReadWholeFile(folder_.File("work/matched.store"));
  request_.rows = {};
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(ReadWholeFile(folder_.File("work/matched.store")), first);
}

TEST_F(MatchPanel, SwappedThroughoutIsSaid) {
  Make(1, 0, false, false);
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  ASSERT_EQ(summary->findings.size(), 1u);
  EXPECT_NE(summary->findings[0].find("swapped throughout"), std::string::npos);
}

TEST_F(MatchPanel, OtherAllelesAreRefused) {
  Make(0, 0, true, false);
  const auto summary = Run();
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.error().Message().find("667 of 2000"), std::string::npos)
      << summary.error().Message();
  EXPECT_FALSE(OpenMatchedStore(request_.work_dir + "/matched.store").ok());
  EXPECT_FALSE(ReadWholeFile(folder_.File("work/match_report.tsv")).empty());
}

// No store appears, and one of an earlier match does not pass for this one.
TEST_F(MatchPanel, ReversedFrequenciesAreRefused) {
  Make(0, 0, false, true);
  request_.min_correlation = -1;
  ASSERT_TRUE(Run().ok());
  request_.min_correlation = 0.5;
  const auto summary = Run();
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.error().Message().find("other way"), std::string::npos);
  EXPECT_FALSE(OpenMatchedStore(request_.work_dir + "/matched.store").ok());
}

TEST_F(MatchPanel, ModelWithoutAllelesIsRefusedWithAdvice) {
  Make(0, 0, false, false);
  ModelSnps bare;
  bare.names = snps_.names;
  snps_ = bare;
  const auto summary = Run();
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.error().Message().find("--bim"), std::string::npos);
}

TEST(Match, BuildsAreTold) {
  BuildGuess guess;
  guess.Add("rs429358", "19", 45411941);
  guess.Add("rs4680", "chr22", 19951271);
  EXPECT_EQ(guess.Name(), "GRCh37");
  BuildGuess other;
  other.Add("19:44908684:T:C", "19", 44908684);
  EXPECT_EQ(other.Name(), "GRCh38");
  EXPECT_EQ(BuildGuess().Name(), "");
}

}  // namespace
}  // namespace tallele

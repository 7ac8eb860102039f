#include "ancestry/create_dataset.h"

#include <gtest/gtest.h>

#include "ancestry/model/training_dataset.h"
#include "ancestry/packed_dataset.h"
#include "ancestry/snp_table.h"
#include "genotype/bed/plink_tables.h"
#include "genotype/writers/bed_writer.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

// Everything of two datasets, genotypes included.
void ExpectEqual(const std::string& one, const std::string& other) {
  const auto a = TrainingDataset::Open(one), b = TrainingDataset::Open(other);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->samples(), b->samples());
  EXPECT_EQ(a->snp_names(), b->snp_names());
  EXPECT_EQ(a->class_names(), b->class_names());
  EXPECT_EQ(a->labels(), b->labels());
  std::vector<int64_t> people(a->num_people());
  for (size_t i = 0; i < people.size(); ++i) people[i] = static_cast<int64_t>(i);
  const size_t bytes = people.size() * ((a->num_snps() + 255) / 256 * 64);
  std::vector<uint8_t> x(bytes), y(bytes);
  ASSERT_TRUE(a->ReadRows(people, x).ok() && b->ReadRows(people, y).ok());
  EXPECT_EQ(x, y);
}

// A small PLINK fileset: person p has (p + v) % 3 copies of variant v, some calls missing.
constexpr size_t kPeople = 7, kVariants = 300;
uint8_t CallOf(size_t p, size_t v) {
  return (p * 5 + v) % 11 == 0 ? kMissingHardCall : static_cast<uint8_t>((p + v) % 3);
}
std::string WritePlink(const TempDir& folder) {
  std::vector<FamPerson> people;
  for (size_t p = 0; p < kPeople; ++p) {
    const std::string name = "P" + std::to_string(p);
    people.push_back({{"F", name, Sex::kUnknown}});
  }
  auto writer = BedWriter::Create(folder.File("panel"), people);
  EXPECT_TRUE(writer.ok());
  for (size_t v = 0; v < kVariants; ++v) {
    std::vector<uint8_t> calls, bytes;
    for (size_t p = 0; p < kPeople; ++p) calls.push_back(CallOf(p, v));
    AppendBedRow(calls, bytes);
    std::string line;
    const std::string id = "rs" + std::to_string(v);
    AppendBimLine({"1", static_cast<uint32_t>(100 + v), id, "A", "G"}, line);
    EXPECT_TRUE((*writer)->Append(bytes, line).ok());
  }
  EXPECT_TRUE((*writer)->Commit().ok());
  return folder.File("panel");
}

constexpr char kLabels[] = "IID\tpop\tgroup\nP6\tB\tx\nP0\tB\tx\nP2\tA\tx\nP3\tA\tx\nextra\tZ\tx\n";

TEST(CreateDataset, TextTableGivesUpstreamsDataset) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "the shared fixtures are absent";
  const std::string tiny = (*shared / "dietnet/tiny").string();
  const TempDir folder;
  CreateDatasetRequest request;
  request.text_genotypes = tiny + "/genotypes.tsv";
  request.labels.path = tiny + "/labels.tsv";
  request.counted_allele = "last";
  request.out = folder.File("d.h5");
  NullEventSink events;
  const auto summary = CreateDataset(request, events, {});
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  ExpectEqual(request.out, tiny + "/dataset.hdf5");
  EXPECT_TRUE(ReadWholeFile(summary->bim).starts_with("chr1\tchr1:100:A:G\t0\t100\tG\tA\n"));
}

TEST(CreateDataset, PlinkWithUnlabelledPeople) {
  const TempDir folder;
  CreateDatasetRequest request;
  request.calls.plink = WritePlink(folder);
  request.labels.path = folder.Write("labels.tsv", kLabels);
  request.labels.column = "pop";
  request.labels.list_unlabelled = folder.File("unlabelled.txt");
  request.out = folder.File("d.h5");
  NullEventSink events;
  const auto refused = CreateDataset(request, events, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Message().find("3 of 7"), std::string::npos);
  EXPECT_EQ(ReadWholeFile(folder.File("unlabelled.txt")), "P1\nP4\nP5\n");
  EXPECT_FALSE(PosixFileEnv().Identity(request.out).ok());
  request.labels.drop_unlabelled = true;
  const auto summary = CreateDataset(request, events, {});
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_EQ(summary->num_dropped, 3u);
  const auto dataset = TrainingDataset::Open(request.out);
  ASSERT_TRUE(dataset.ok());
  EXPECT_EQ(dataset->samples(), (std::vector<std::string>{"P0", "P2", "P3", "P6"}));
  EXPECT_EQ(dataset->class_names(), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(dataset->labels(), (std::vector<int64_t>{1, 0, 0, 1}));
  std::vector<uint8_t> row(128);
  const int64_t last = 3;
  ASSERT_TRUE(dataset->ReadRows({&last, 1}, row).ok());
  for (size_t v = 0; v < kVariants; ++v) {
    EXPECT_EQ(row[v / 4] >> (2 * (v % 4)) & 3, CallOf(6, v)) << v;
  }
  EXPECT_EQ(bed::ReadBim(summary->bim)->size(), kVariants);
}

// Several columns of labels need a choice; a missing one is named.
TEST(CreateDataset, LabelColumnMustBeClear) {
  const TempDir folder;
  const std::string path = folder.Write("labels.tsv", kLabels);
  EXPECT_FALSE(PersonColumn::Read({path, "", "--label-column"}).ok());
  const auto table = PersonColumn::Read({path, "nothing", "--label-column"});
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.error().Message().find("pop, group"), std::string::npos);
}

TEST(CreateDataset, BadTextGenotypeIsLocated) {
  const TempDir folder;
  CreateDatasetRequest request;
  request.text_genotypes = folder.Write("g.tsv", "id\ta\tb\nS1\t0\t1\nS2\t0\t3\n");
  request.labels.path = folder.Write("l.tsv", "s\tl\nS1\tX\nS2\tY\n");
  request.out = folder.File("d.h5");
  NullEventSink events;
  const auto summary = CreateDataset(request, events, {});
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.error().Message().find("line 3, column 3"), std::string::npos);
}

// Packing the .bed itself gives the rows that packing the dataset gives.
TEST(CreateDataset, PackingBedEqualsPackingDataset) {
  const TempDir folder;
  CreateDatasetRequest request;
  request.calls.plink = WritePlink(folder);
  std::string labels = "s\tl\n";
  for (size_t p = 0; p < kPeople; ++p) labels += "P" + std::to_string(p) + "\tX\n";
  request.labels.path = folder.Write("l.tsv", labels);
  request.out = folder.File("d.h5");
  NullEventSink events;
  ASSERT_TRUE(CreateDataset(request, events, {}).ok());
  const auto beside = PackDataset(request.out, events, {});
  ASSERT_TRUE(beside.ok()) << beside.error().Message();
  const std::string direct = folder.File("direct.store");
  ASSERT_TRUE(PackCalls(request.calls, direct, {}, events, {}).ok());
  EXPECT_EQ(PackedStore::Open(*beside)->rows_checksum(),
            PackedStore::Open(direct)->rows_checksum());
}

}  // namespace
}  // namespace tallele

#include "ancestry/fold_counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "ancestry/packed_dataset.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

DoubleArray ReadArray(const std::string& path, const std::string& member) {
  const auto archive = ZipArchive::Open(path);
  EXPECT_TRUE(archive.ok());
  const auto bytes = archive->Read(member);
  EXPECT_TRUE(bytes.ok()) << path << member;
  return *ReadNpyDoubles(*bytes, path);
}

class TinyCounts : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = SharedFixtures();
    if (!shared) GTEST_SKIP() << "the shared fixtures are absent";
    fixtures_ = (*shared / "dietnet/tiny").string();
    path_ = folder_.File("d.h5");
    std::filesystem::copy_file(fixtures_ + "/dataset.hdf5", path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }

  Result<FoldCounts> Count(FoldCountRequest request = {}) {
    TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(path_));
    TALLELE_ASSIGN(const auto folds,
                   ReadPartition(fixtures_ + "/partition_seed_a.npz", dataset.samples()));
    TALLELE_ASSIGN(const auto rows, OpenGenotypeRows(dataset, events_));
    return FoldCounts::Count(*rows, folds, dataset.labels(), dataset.class_names(), request,
                             events_, cancel_);
  }

  void ExpectUpstreamsFiles(const FoldCounts& counts) {
    const InputStatistics statistics = ComputeInputStatistics(counts);
    ASSERT_TRUE(WriteInputStatistics(counts, statistics, false, folder_.File("s.npz")).ok());
    ASSERT_TRUE(WriteEmbedding(counts, folder_.File("e.npz")).ok());
    const std::string stored = fixtures_ + "/input_stats.npz";
    EXPECT_EQ(ReadArray(folder_.File("s.npz"), "means_by_fold.npy").values,
              ReadArray(stored, "means_by_fold.npy").values);
    const auto ours = ReadArray(folder_.File("s.npz"), "sd_by_fold.npy");
    const auto theirs = ReadArray(stored, "sd_by_fold.npy");
    ASSERT_EQ(ours.shape, theirs.shape);
    for (size_t i = 0; i < ours.values.size(); ++i) {
      EXPECT_NEAR(ours.values[i] / theirs.values[i], 1, 5e-14) << i;
    }
    const auto embedding = ReadArray(folder_.File("e.npz"), "emb.npy");
    EXPECT_EQ(embedding.shape, ReadArray(fixtures_ + "/embedding.npz", "emb.npy").shape);
    EXPECT_EQ(embedding.values, ReadArray(fixtures_ + "/embedding.npz", "emb.npy").values);
  }

  TempDir folder_;
  std::string fixtures_, path_;
  NullEventSink events_;
  CancelToken cancel_;
};

// Means and embedding bit for bit, deviations to 5e-14, all five folds from one pass.
TEST_F(TinyCounts, DatasetGivesUpstreamsFiles) {
  const auto counts = Count();
  ASSERT_TRUE(counts.ok()) << counts.error().Message();
  ExpectUpstreamsFiles(*counts);
}

TEST_F(TinyCounts, PackedCopyAndSmallBlocksGiveTheSame) {
  ASSERT_TRUE(PackDataset(path_, events_, cancel_).ok());
  const auto counts = Count({.num_threads = 2, .block_bytes = 1000});
  ASSERT_TRUE(counts.ok()) << counts.error().Message();
  ExpectUpstreamsFiles(*counts);
}

// A plain copy has a new time of change and stays valid; a dataset of other content does not.
TEST_F(TinyCounts, StalePackedCopyIsRefused) {
  ASSERT_TRUE(PackDataset(path_, events_, cancel_).ok());
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(Count().ok());
  std::string bytes = ReadWholeFile(path_);
  const auto dataset = TrainingDataset::Open(path_);
  std::string pattern;  // the genotypes of the last person as the file stores them
  std::vector<uint8_t> row(128);
  const int64_t last = static_cast<int64_t>(dataset->num_people()) - 1;
  ASSERT_TRUE(dataset->ReadRows({&last, 1}, row).ok());
  for (size_t j = 0; j < dataset->num_snps(); ++j) {
    const int code = row[j / 4] >> (2 * (j % 4)) & 3;
    pattern.push_back(static_cast<char>(code == 3 ? -1 : code));
  }
  const size_t at = bytes.find(pattern);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] == 0 ? 1 : 0);
  folder_.Write("d.h5", bytes);
  const auto counts = Count();
  ASSERT_FALSE(counts.ok());
  EXPECT_NE(counts.error().Message().find("pack-genotypes"), std::string::npos);
}

// Rows that no list holds do not count, whatever set is chosen.
TEST_F(TinyCounts, SetsAddUp) {
  const auto train = Count(), test = Count({.set = SampleSet::kTest});
  const auto valid = Count({.set = SampleSet::kValidation});
  const auto both = Count({.set = SampleSet::kTrainingAndValidation});
  ASSERT_TRUE(train.ok() && test.ok() && valid.ok() && both.ok());
  for (size_t c = 0; c < train->num_classes(); ++c) {
    EXPECT_EQ(train->class_size(1, c) + valid->class_size(1, c), both->class_size(1, c));
    std::vector<int64_t> sum(300), whole(300);
    train->Add(1, c, 2, 0, sum);
    valid->Add(1, c, 2, 0, sum);
    both->Add(1, c, 2, 0, whole);
    EXPECT_EQ(sum, whole);
  }
}

// More people than a byte can count, against plain additions.
TEST(FoldCounts, ManyPeopleInOneCell) {
  class Rows final : public GenotypeRows {
   public:
    size_t num_people() const override { return 1000; }
    size_t num_snps() const override { return 70; }
    static int Code(size_t person, size_t snp) {
      return static_cast<int>((person * 7 + snp * snp + person * snp / 5) % 4);
    }
    Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
      std::fill(rows.begin(), rows.end(), uint8_t{0xff});
      for (size_t r = 0; r < count; ++r) {
        for (size_t j = 0; j < 70; ++j) {
          uint8_t& byte = rows[r * 64 + j / 4];
          byte = static_cast<uint8_t>(byte & ~(3 << (2 * (j % 4))));
          byte = static_cast<uint8_t>(byte | Code(first + r, j) << (2 * (j % 4)));
        }
      }
      return {};
    }
  };
  std::vector<Fold> folds(1);
  for (int64_t i = 0; i < 1000; ++i) folds[0][0].push_back(i);
  NullEventSink events;
  const std::vector<int64_t> classes(1000, 0);
  const std::vector<std::string> names = {"A"};
  const auto counts = FoldCounts::Count(Rows(), folds, classes, names, {}, events, {});
  ASSERT_TRUE(counts.ok());
  for (int code = 1; code <= 3; ++code) {
    std::vector<int64_t> expected(70), got(70);
    for (size_t i = 0; i < 1000; ++i) {
      for (size_t j = 0; j < 70; ++j) expected[j] += Rows::Code(i, j) == code;
    }
    counts->Add(0, 0, code, 0, got);
    EXPECT_EQ(got, expected);
  }
}

}  // namespace
}  // namespace tallele

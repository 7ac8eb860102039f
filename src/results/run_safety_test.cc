// Protects: locks exclude and die with their owner, a run folder is told from what else lies in it,
// inputs are recognised by content, and parts read back the rows that were written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "results/input_files.h"
#include "results/parquet_part.h"
#include "results/read_part.h"
#include "results/run_folder.h"
#include "results/run_lock.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(RunLock, ExcludesASecondOneAndIsFreeAfterwards) {
  const TempDir folder;
  auto first = RunLock::Take(folder.path().string());
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE((*first)->Confirm().ok());
  const auto second = RunLock::Take(folder.path().string());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().Message(), HasSubstr("another run"));
  first->reset();
  EXPECT_TRUE(RunLock::Take(folder.path().string()).ok());
}

void WriteRecordOf(const std::string& path, const std::string& boot, int64_t age_seconds) {
  std::ofstream(path) << "token=1\nhost=elsewhere\nboot=" << boot << "\npid=7\n";
  struct timespec times[2] = {};
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= age_seconds;
  times[1] = times[0];
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

// A crash leaves a record without a kernel lock: on the same machine it counts for nothing.
TEST(RunLock, ACrashOnThisMachineLeavesNoLock) {
  const TempDir folder;
  WriteRecordOf(folder.File(kLockName), ThisMachine().boot, 0);
  EXPECT_TRUE(RunLock::Take(folder.path().string()).ok());
}

// A file system without locks between machines: a fresh record of another machine is respected,
// an old one is not.
TEST(RunLock, AnotherMachinesRecordIsRespectedForAMinute) {
  const TempDir folder;
  WriteRecordOf(folder.File(kLockName), "another boot", 5);
  const auto refused = RunLock::Take(folder.path().string());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().Message(), HasSubstr("process 7 on elsewhere"));
  WriteRecordOf(folder.File(kLockName), "another boot", 120);
  EXPECT_TRUE(RunLock::Take(folder.path().string()).ok());
}

TEST(RunLock, WhoLostTheFolderIsTold) {
  const TempDir folder;
  auto lock = RunLock::Take(folder.path().string());
  ASSERT_TRUE(lock.ok());
  std::ofstream(folder.File(kLockName)) << "token=2\nhost=elsewhere\nboot=b\npid=7\n";
  EXPECT_THAT((*lock)->Confirm().error().Message(), HasSubstr("elsewhere"));
  fs::remove(folder.File(kLockName));
  EXPECT_FALSE((*lock)->Confirm().ok());
}

TEST(RunFolder, TellsOwnFilesFromOthers) {
  const TempDir folder;
  const auto touch = [&](const std::string& name) {
    fs::create_directories((folder.path() / name).parent_path());
    folder.Write(name, "x");
  };
  const char* own[] = {".lock", "effective_config.toml", "trait_0001_A/run_manifest.json",
                       "trait_0001_A/parts/part_000000000_000065535.parquet", "logs/events.jsonl"};
  for (const char* name : own) touch(name);
  touch("trait_0001_A/parts/.part_000000000_000065535.parquet.tmp-12-3");
  const char* others[] = {"notes.txt", "trait_0001_A/parts/part_1_2.parquet",
                          "trait_0001_A/parts/extra/part_000000000_000065535.parquet",
                          "trait_x/run_manifest.json", "trait_0001_A/parts/.hidden"};
  for (const char* name : others) touch(name);
  fs::create_symlink("/etc/passwd",
                     folder.path() / "trait_0001_A/parts/part_000000000_000000001.parquet");
  const auto content = ListRunFolder(folder.path().string());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->files.size(), 5u);
  EXPECT_EQ(content->temporaries.size(), 1u);
  EXPECT_EQ(content->foreign.size(), 6u);
  EXPECT_THAT(content->traits, ElementsAre("trait_0001_A"));
  EXPECT_FALSE(RemoveRun(folder.path().string()).ok());
  for (const char* name : own) EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
}

TEST(RunFolder, RemovesARunAndNothingElse) {
  const TempDir folder;
  fs::create_directories(folder.path() / "run/trait_0001_A/parts");
  folder.Write("run/trait_0001_A/run_manifest.json", "x");
  folder.Write("run/trait_0001_A/parts/part_000000000_000065535.parquet", "x");
  folder.Write("run/.lock", "x");
  folder.Write("beside", "x");
  ASSERT_TRUE(RemoveRun(folder.File("run")).ok());
  EXPECT_TRUE(fs::exists(folder.File("run/.lock")));
  EXPECT_TRUE(fs::exists(folder.File("beside")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.File("run")), {}), 1);
}

TEST(InputFiles, AreKnownByContent) {
  const TempDir folder;
  const auto describe = [&](const std::string& name, DigestPolicy policy) {
    auto input = DescribeInput("x", folder.File(name), policy);
    EXPECT_TRUE(input.ok());
    return *std::move(input);
  };
  std::string big((size_t{20} << 20) + 5, 'a');
  folder.Write("a", big);
  folder.Write("b", big);
  const InputFile a = describe("a", DigestPolicy::kSampled);
  EXPECT_EQ(a.sha256, describe("b", DigestPolicy::kSampled).sha256);
  for (const size_t at : {size_t{0}, big.size() - 1}) {  // both ends are always sampled
    std::string changed = big;
    changed[at] = 'b';
    folder.Write("b", changed);
    EXPECT_NE(a.sha256, describe("b", DigestPolicy::kSampled).sha256) << at;
  }
  folder.Write("b", big + "a");
  EXPECT_NE(a.sha256, describe("b", DigestPolicy::kSampled).sha256);
  EXPECT_TRUE(CheckInputsUnchanged(std::vector{a}).ok());
  folder.Write("a", "other");
  EXPECT_THAT(CheckInputsUnchanged(std::vector{a}).error().Message(), HasSubstr("changed"));
}

VariantIndex Variants(size_t count) {
  VariantIndex variants;
  for (uint32_t v = 0; v < count; ++v) {
    variants.Add({"1", v + 1, "rs" + std::to_string(v), "A", "G", 2});
  }
  return variants;
}

// Every number of every row, missing ones and several row groups included.
TEST(ReadPart, GivesBackEveryBitOfEveryRow) {
  const TempDir folder;
  const VariantIndex variants = Variants(40'000);
  const ResultSchema schema;
  std::vector<ResultRow> rows;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (uint32_t v = 0; v < 40'000; v += 1 + v % 3) {
    ResultRow row;
    row.variant = v;
    row.n = static_cast<int32_t>(v % 1000);
    row.a1freq = v / 70'000.0;
    row.info = v % 5 == 0 ? nan : -1.0 / (v + 1);
    row.info_ratio = v % 7 == 0 ? nan : 1.0 / (v + 3);
    row.beta = v % 11 == 0 ? nan : std::sin(v);
    row.se = 1e-300 * v;
    row.chisq = v * 1e5;
    row.log10p = std::sqrt(v);
    row.method = static_cast<CorrectionMethod>(v % 4);
    row.status = static_cast<RowStatus>(v / 10 % 4);
    rows.push_back(row);
  }
  auto writer = ParquetPartWriter::Create(folder.File("p.parquet"), {"T", {0, 40'000}, "hash"},
                                          schema, variants);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->Append(rows).ok());
  const auto published = (*writer)->Finish();
  ASSERT_TRUE(published.ok());
  const auto table = ReadPart(folder.File("p.parquet"), {0, 40'000}, {});
  ASSERT_TRUE(table.ok()) << table.error().Message();
  ASSERT_EQ(table->rows.size(), rows.size());
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (size_t i = 0; i < rows.size(); ++i) {
    const ResultRow& a = rows[i];
    const ResultRow& b = table->rows[i];
    ASSERT_TRUE(a.variant == b.variant && a.n == b.n && same(a.a1freq, b.a1freq) &&
                same(a.info, b.info) && same(a.info_ratio, b.info_ratio) && same(a.beta, b.beta) &&
                same(a.se, b.se) && same(a.chisq, b.chisq) && same(a.log10p, b.log10p) &&
                a.method == b.method && a.status == b.status)
        << i;
  }
  ResultSchema float32;
  float32.float32_statistics = true;
  EXPECT_FALSE(ReadPart(folder.File("p.parquet"), {0, 40'000}, float32).ok());
  ResultSchema binary;
  binary.binary = true;
  EXPECT_FALSE(ReadPart(folder.File("p.parquet"), {0, 40'000}, binary).ok());
  EXPECT_FALSE(ReadPart(folder.File("p.parquet"), {1, 40'000}, {}).ok());

  CommittedPart part{"p.parquet",          {0, 40'000},       rows.size(),
                     published->num_bytes, published->sha256, {}};
  const std::string place = folder.path().string();
  EXPECT_TRUE(CheckPart(place, part, "T", "hash").ok());
  EXPECT_THAT(CheckPart(place, part, "T", "other").error().Message(), HasSubstr("plan_hash"));
  EXPECT_THAT(CheckPart(place, part, "U", "hash").error().Message(), HasSubstr("trait"));
  part.num_rows += 1;
  EXPECT_THAT(CheckPart(place, part, "T", "hash").error().Message(), HasSubstr("rows"));
}

// No byte of a part can change unnoticed.
TEST(ReadPart, DamagedPartsAreErrors) {
  const TempDir folder;
  const VariantIndex variants = Variants(10);
  const ResultSchema schema;
  auto writer =
      ParquetPartWriter::Create(folder.File("p.parquet"), {"T", {0, 10}, "h"}, schema, variants);
  ASSERT_TRUE(writer.ok());
  std::vector<ResultRow> rows(3);
  for (uint32_t v = 0; v < 3; ++v) rows[v].variant = v;
  ASSERT_TRUE((*writer)->Append(rows).ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  const std::string whole = ReadWholeFile(folder.File("p.parquet"));
  for (size_t size = 0; size < whole.size(); size += 97) {
    folder.Write("cut.parquet", whole.substr(0, size));
    EXPECT_FALSE(ReadPart(folder.File("cut.parquet"), {0, 10}, {}).ok()) << size;
  }
}

}  // namespace
}  // namespace tallele

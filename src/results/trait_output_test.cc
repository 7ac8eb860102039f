#include "results/trait_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "results/output_paths.h"
#include "results/sample_ids.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

VariantIndex TwoChromosomes(uint32_t per_chromosome) {
  VariantIndex variants;
  for (const char* chromosome : {"1", "2"}) {
    for (uint32_t v = 0; v < per_chromosome; ++v) {
      variants.Add({chromosome, v + 1, "rs" + std::to_string(v), "A", "G", 2});
    }
  }
  return variants;
}

ResultTable RowsOf(size_t first, size_t count) {
  ResultTable table;
  for (size_t v = first; v < first + count; ++v) {
    ResultRow row;
    row.variant = static_cast<uint32_t>(v);
    row.n = 100;
    row.a1freq = 0.25;
    row.info = 0.5;
    row.beta = static_cast<double>(v) / 7;
    row.se = 1;
    table.rows.push_back(row);
  }
  return table;
}

// Every file below `folder`, hidden ones too, as sorted relative paths.
std::vector<std::string> FilesBelow(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

OutputRequest BothFormats(const std::string& prefix) {
  OutputRequest request;
  request.prefix = prefix;
  request.regenie_text = true;
  return request;
}

// The grid restarts at each chromosome and ends with a shorter part.
TEST(PartGrid, RestartsAtChromosomes) {
  const VariantIndex variants = TwoChromosomes(kVariantsPerPart + 3);
  const auto grid = PartGrid(variants);
  ASSERT_EQ(grid.size(), 4u);
  EXPECT_EQ(grid[1].first, kVariantsPerPart);
  EXPECT_EQ(grid[1].count, 3u);
  EXPECT_EQ(grid[2].first, kVariantsPerPart + 3);
  EXPECT_EQ(grid[2].count, kVariantsPerPart);
  EXPECT_EQ(PartFileName(grid[1]), "part_000065536_000065538.parquet");
}

// A trait's name can neither leave the run directory nor make a name that is too long.
TEST(TraitDirectoryName, IsSafeAndBounded) {
  EXPECT_EQ(TraitDirectoryName(1, "BMI"), "trait_0001_BMI");
  EXPECT_EQ(TraitDirectoryName(12, "../a b/\xc3\xa9"), "trait_0012_.._a_b___");
  EXPECT_EQ(TraitDirectoryName(3, std::string(300, 'x')), "trait_0003_" + std::string(64, 'x'));
}

// Both formats at once: the layout of association.md 5.1 and REGENIE's name; parts without rows
// exist as well, so that it is known what was covered.
TEST(TraitOutput, WritesPartsAndText) {
  const TempDir folder;
  const VariantIndex variants = TwoChromosomes(10);
  const OutputRequest request = BothFormats(folder.File("out"));
  auto output = std::move(OpenTraitOutput(request, {}, 2, "a/b", variants)).value();
  ASSERT_TRUE(output->Append(RowsOf(0, 4)).ok());
  ASSERT_TRUE(output->Append(RowsOf(6, 3)).ok());
  ASSERT_TRUE(output->FinishPart({0, 10}).ok());
  ASSERT_TRUE(output->FinishPart({10, 10}).ok());
  const auto files = output->Finish();
  ASSERT_TRUE(files.ok()) << files.error().Message();
  EXPECT_EQ(files->num_rows, 7u);
  EXPECT_EQ(files->trait, "a/b");
  output.reset();
  const std::string parts = "out.tallele/trait_0002_a_b/parts/";
  EXPECT_EQ(
      FilesBelow(folder.path()),
      (std::vector<std::string>{parts + "part_000000000_000000009.parquet",
                                parts + "part_000000010_000000019.parquet", "out_a_b.regenie"}));
  const std::string text = ReadWholeFile(folder.File("out_a_b.regenie"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
}

// The same rows give the same bytes, however they are cut into calls.
TEST(TraitOutput, BytesDependOnRowsAlone) {
  const TempDir folder;
  const VariantIndex variants = TwoChromosomes(40'000);
  std::string bytes[2];
  const size_t steps[] = {40'000, 1'777};
  for (int run = 0; run < 2; ++run) {
    OutputRequest request;
    request.prefix = folder.File("run" + std::to_string(run));
    auto output = std::move(OpenTraitOutput(request, {}, 1, "T", variants)).value();
    for (size_t at = 0; at < 40'000; at += steps[run]) {
      ASSERT_TRUE(output->Append(RowsOf(at, std::min(steps[run], 40'000 - at))).ok());
    }
    ASSERT_TRUE(output->FinishPart({0, 40'000}).ok());
    const auto files = output->Finish();
    bytes[run] = ReadWholeFile(files->parquet_directory + "/part_000000000_000039999.parquet");
  }
  EXPECT_GT(bytes[0].size(), 10'000u);
  EXPECT_TRUE(bytes[0] == bytes[1]);
}

// A caller that hands rows over in the wrong place is told, and no part is mislabelled.
TEST(TraitOutput, RefusesRowsOutsideTheGridCell) {
  const TempDir folder;
  const VariantIndex variants = TwoChromosomes(10);
  OutputRequest request;
  request.prefix = folder.File("out");
  auto output = std::move(OpenTraitOutput(request, {}, 1, "T", variants)).value();
  EXPECT_FALSE(output->Append(RowsOf(8, 4)).ok());
  ASSERT_TRUE(output->Append(RowsOf(0, 4)).ok());
  EXPECT_FALSE(output->Append(RowsOf(12, 1)).ok());
  EXPECT_FALSE(output->Finish().ok());
}

struct Fault {
  const char* name;
  int FaultFileEnv::* call;
};

class TraitOutputFault : public testing::TestWithParam<Fault> {};

// A full disk or a failed sync or rename is an error of the call, never a shorter result; nothing
// is left under a final name, nor a temporary.
TEST_P(TraitOutputFault, LeavesNothingBehind) {
  const VariantIndex variants = TwoChromosomes(1'000);
  for (int parquet = 0; parquet < 2; ++parquet) {
    for (const bool gzip : {false, true}) {
      const TempDir folder;
      FaultFileEnv env(PosixFileEnv());
      env.*GetParam().call = 0;
      OutputRequest request;
      request.prefix = folder.File("out");
      request.parquet = parquet == 1;
      request.regenie_text = !request.parquet;
      request.gzip = gzip;
      auto opened = OpenTraitOutput(request, {}, 1, "T", variants, env);
      ASSERT_TRUE(opened.ok());
      auto output = std::move(opened).value();
      const bool appended = output->Append(RowsOf(0, 1'000)).ok();
      const bool finished = appended && output->FinishPart({0, 1'000}).ok() &&
                            output->FinishPart({1'000, 1'000}).ok() && output->Finish().ok();
      EXPECT_FALSE(finished);
      output.reset();
      EXPECT_EQ(FilesBelow(folder.path()), std::vector<std::string>{});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, TraitOutputFault,
                         testing::Values(Fault{"append", &FaultFileEnv::fail_append_from},
                                         Fault{"sync", &FaultFileEnv::fail_sync_from},
                                         Fault{"rename", &FaultFileEnv::fail_rename_from}),
                         [](const auto& info) { return std::string(info.param.name); });

// The error of a failed write is the operating system's, not the Parquet library's paraphrase.
TEST(TraitOutput, WriteErrorNamesTheCause) {
  const TempDir folder;
  const VariantIndex variants = TwoChromosomes(10);
  FaultFileEnv env(PosixFileEnv());
  env.fail_append_from = 0;
  OutputRequest request;
  request.prefix = folder.File("out");
  auto output = std::move(OpenTraitOutput(request, {}, 1, "T", variants, env)).value();
  ASSERT_TRUE(output->Append(RowsOf(0, 10)).ok());
  const auto finished = output->FinishPart({0, 10});
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().kind, ErrorKind::kIo);
  EXPECT_NE(finished.error().Message().find("No space left"), std::string::npos);
}

// A finished run is never mixed with a new one; REGENIE's texts may be replaced, and are named.
TEST(CheckOutputs, RefusesAnEarlierRun) {
  const TempDir folder;
  const OutputRequest request = BothFormats(folder.File("out"));
  EXPECT_TRUE(CheckOutputs(request, {"T"}).ok());
  fs::create_directory(folder.File("out.tallele"));
  EXPECT_TRUE(CheckOutputs(request, {"T"}).ok());
  folder.Write("out_T.regenie", "old");
  EXPECT_TRUE(CheckOutputs(request, {"T"}).ok());
  EXPECT_EQ(FilesToReplace(request, {"T", "U"}),
            std::vector<std::string>{folder.File("out_T.regenie")});
  folder.Write("out.tallele/effective_config.toml", "");
  const auto refused = CheckOutputs(request, {"T"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ExitCodeFor(refused.error().kind), 2);
  EXPECT_NE(refused.error().Message().find("out.tallele"), std::string::npos);
}

// Destinations that would overwrite each other, seen through symbolic links as well.
TEST(CheckOutputs, RefusesPlacesThatCollide) {
  const TempDir folder;
  OutputRequest request = BothFormats(folder.File("out"));
  EXPECT_FALSE(CheckOutputs(request, {"a/b", "a_b"}).ok());
  EXPECT_TRUE(CheckOutputs(request, {"a", "b"}).ok());
  // The text files lie in the run directory, which a link hides.
  fs::create_directory(folder.File("real"));
  fs::create_directory_symlink(folder.File("real"), folder.File("link"));
  request.prefix = folder.File("link/x");
  request.run_directory = folder.File("real/");
  EXPECT_FALSE(CheckOutputs(request, {"T"}).ok());
  // A link that leads nowhere would become a folder elsewhere.
  fs::create_symlink(folder.File("gone"), folder.File("dangling"));
  request.prefix = folder.File("out");
  request.run_directory = folder.File("dangling");
  EXPECT_FALSE(CheckOutputs(request, {"T"}).ok());
  request.run_directory = folder.Write("a_file", "");
  EXPECT_FALSE(CheckOutputs(request, {"T"}).ok());
  fs::create_directory(folder.File("out_T.regenie"));
  request.run_directory.clear();
  EXPECT_FALSE(CheckOutputs(request, {"T"}).ok());
}

// The folder of the output must be there and writable before hours of work.
TEST(CheckOutputs, NeedsAWritableParent) {
  const TempDir folder;
  EXPECT_FALSE(CheckOutputs(BothFormats(folder.File("missing/out")), {"T"}).ok());
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(CheckOutputs(BothFormats(folder.File("out")), {"T"}).ok());
  fs::permissions(folder.path(), fs::perms::owner_all);
}

// The ids file of regenie.md 4.4: no header, no newline at the end; --print-pheno adds a line.
TEST(SampleIds, HasRegeniesForm) {
  const TempDir folder;
  const std::string path = SampleIdsPath(folder.File("out"), "T");
  EXPECT_EQ(path, folder.File("out_T.regenie.ids"));
  const PersonId people[] = {{"f1", "i1"}, {"f2", "i2"}};
  ASSERT_TRUE(WriteSampleIds(path, people).ok());
  EXPECT_EQ(ReadWholeFile(path), "f1\ti1\nf2\ti2");
  ASSERT_TRUE(WriteSampleIds(path, people, "T").ok());
  EXPECT_EQ(ReadWholeFile(path), "T\tNA\nf1\ti1\nf2\ti2");
}

// The settings of a run lie beside its results, whole or not at all.
TEST(WriteRunFile, MakesTheFolderAndReplaces) {
  const TempDir folder;
  ASSERT_TRUE(WriteRunFile(folder.File("a/b"), "effective_config.toml", "x = 1\n").ok());
  EXPECT_EQ(ReadWholeFile(folder.File("a/b/effective_config.toml")), "x = 1\n");
  FaultFileEnv env(PosixFileEnv());
  env.fail_sync_from = 0;
  EXPECT_FALSE(WriteRunFile(folder.File("a/b"), "effective_config.toml", "y", env).ok());
  EXPECT_EQ(ReadWholeFile(folder.File("a/b/effective_config.toml")), "x = 1\n");
}

}  // namespace
}  // namespace tallele

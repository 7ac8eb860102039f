// From upstream's files to packages and back: nothing may be lost on the way, and NumPy and PyTorch
// must read what is exported.
#include "ancestry/model/import_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::HasSubstr;

class Import : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = SharedFixtures();
    if (!shared) GTEST_SKIP() << "no shared fixtures";
    const std::string d = (*shared / "dietnet/bn24-d").string();
    files_.checkpoint = d + "/best_model.pt";
    files_.embedding = d + "/embedding_fold0.npz";
    files_.stats = d + "/input_stats_fold0.npz";
    files_.config = d + "/config.yaml";
    files_.seed = 78;
    context_.partition = d + "/partition.npz";
    std::string snps, bim;
    for (int j = 0; j < 5000; ++j) {
      snps += "chr2:" + std::to_string(1000 + j) + ":A:G\n";
      bim += "2\trs" + std::to_string(j) + "\t0\t" + std::to_string(1000 + j) + "\tG\tA\n";
    }
    context_.snps = folder_.Write("snps.txt", snps);
    bim_ = folder_.Write("train.bim", bim);
    context_.out = folder_.File("packages");
  }

  Result<ImportSummary> Run() {
    NullEventSink sink;
    return ImportModels({files_}, context_, sink, CancelToken());
  }

  TempDir folder_;
  std::string bim_;
  ModelFiles files_;
  ImportContext context_;
};

TEST_F(Import, KeepsEverything) {
  context_.bim = bim_;
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_TRUE(summary->has_alleles);
  EXPECT_EQ(summary->num_test_rows, 465u);
  const auto packages = ReadPackages(context_.out);
  ASSERT_TRUE(packages.ok()) << packages.error().Message();
  ASSERT_EQ(packages->size(), 1u);
  const ModelPackage& package = packages->front();
  EXPECT_EQ(package.seed, 78);
  EXPECT_EQ(package.epoch, 300);
  EXPECT_THAT(package.config, HasSubstr("batch_size: 138"));
  EXPECT_EQ(package.inputs->class_names, PublishedClasses());
  EXPECT_EQ(package.inputs->snps.counted_alleles[7], "G");
  EXPECT_EQ(package.inputs->snps.positions[7], 1007);
  EXPECT_EQ(package.inputs->dataset_people, 2322);
  const auto checkpoint = ReadCheckpoint(files_.checkpoint);
  const auto state = StateFromNetwork(package.network);
  ASSERT_EQ(state.size(), checkpoint->state.size());
  for (const NamedTensor& named : state) {
    EXPECT_EQ(named.tensor.floats, checkpoint->Find(named.name)->floats) << named.name;
    EXPECT_EQ(named.tensor.integers, checkpoint->Find(named.name)->integers) << named.name;
  }
}

// The frequencies are kept as counts, which must give back upstream's doubles to the last bit.
TEST_F(Import, ExportsWhatNumPyAndPyTorchRead) {
  context_.bim = bim_;
  ASSERT_TRUE(Run().ok());
  NullEventSink sink;
  const auto folders =
      ExportPackages(*ReadPackages(context_.out), folder_.File("export"), sink, CancelToken());
  ASSERT_TRUE(folders.ok()) << folders.error().Message();
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch, numpy' > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "PyTorch and NumPy are not installed: the export was not read by them";
  }
  const std::string script = folder_.Write(
      "check.py",
      "import numpy as np, torch, json, sys\n"
      "d, pt, emb, stats = sys.argv[1:]\n"
      "a, b = torch.load(d + '/model.pt'), torch.load(pt)\n"
      "assert list(a['model_state_dict']) == list(b['model_state_dict'])\n"
      "for k, v in b['model_state_dict'].items():\n"
      "    assert torch.equal(a['model_state_dict'][k], v), k\n"
      "assert a['best_results'] == b['best_results'] and a['epoch'] == b['epoch']\n"
      "assert (np.load(d + '/embedding.npz')['emb'] == np.load(emb)['emb'][0]).all()\n"
      "s, t = np.load(d + '/input_stats.npz'), np.load(stats)\n"
      "assert (s['mean'] == t['means_by_fold'][0]).all()\n"
      "assert (s['std'] == t['sd_by_fold'][0]).all()\n"
      "assert json.load(open(d + '/label_mapping.json'))['YRI'] == 23\n"
      "assert len(open(d + '/allpos.bim').readlines()) == 5000\n");
  EXPECT_EQ(std::system((python + " " + script + " " + folders->front() + " " + files_.checkpoint +
                         " " + files_.embedding + " " + files_.stats)
                            .c_str()),
            0);
}

TEST_F(Import, ReadsBackTheWrappersLayout) {
  context_.bim = bim_;
  ASSERT_TRUE(Run().ok());
  NullEventSink sink;
  const std::string exported = folder_.File("export");
  ASSERT_TRUE(ExportPackages(*ReadPackages(context_.out), exported, sink, CancelToken()).ok());
  ImportContext again;
  again.out = folder_.File("again");
  const auto models = FindWrapperModels(exported, again);
  ASSERT_TRUE(models.ok()) << models.error().Message();
  const auto summary = ImportModels(*models, again, sink, CancelToken());
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  const auto first = ReadPackages(context_.out), second = ReadPackages(again.out);
  EXPECT_EQ(first->front().inputs->means, second->front().inputs->means);
  EXPECT_EQ(*first->front().inputs->LoadEmbedding(), *second->front().inputs->LoadEmbedding());
}

// The released bundle: files counted from 1, one embedding and one set of statistics per fold.
TEST_F(Import, FindsTheModelsOfTheReleasedBundle) {
  namespace fs = std::filesystem;
  const fs::path root = folder_.path() / "release" / "Dietnet_inference";
  fs::create_directories(root / "DN_MODELS");
  fs::create_directories(root / "DN_SNPS");
  const auto stats = ZipArchive::Open(files_.stats);
  const auto values = [&](const char* key) {
    return ReadNpyDoubles(*stats->Read(std::string(key) + ".npy"), key)->values;
  };
  const int64_t shape[] = {5000};
  for (const int fold : {1, 4}) {
    const std::string number = std::to_string(fold);
    for (const char* repeat : {"1", "3"}) {
      fs::copy(files_.checkpoint,
               root / "DN_MODELS" / ("weights_model" + number + "_" + repeat + ".pt"));
    }
    fs::copy(files_.embedding, root / "DN_MODELS" / ("snps_emb_model" + number + ".npz"));
    auto zip = StoredZipWriter::Create(
        (root / "DN_MODELS" / ("norm_stats_model" + number + ".npz")).string());
    ASSERT_TRUE(zip->Add("mean.npy", WriteNpy(values("means_by_fold"), shape)).ok());
    ASSERT_TRUE(zip->Add("std.npy", WriteNpy(values("sd_by_fold"), shape)).ok());
    ASSERT_TRUE(zip->Finish().ok());
  }
  fs::copy(bim_, root / "DN_SNPS" / "dummy.bim");
  fs::copy(context_.snps, root / "DN_SNPS" / "dietnet_snps.txt");
  ImportContext context;
  context.out = folder_.File("bundle");
  const auto models = FindBundleModels((folder_.path() / "release").string(), context);
  ASSERT_TRUE(models.ok()) << models.error().Message();
  NullEventSink sink;
  const auto summary = ImportModels(*models, context, sink, CancelToken());
  ASSERT_TRUE(summary.ok()) << summary.error().Message();
  EXPECT_TRUE(summary->has_alleles);
  const auto packages = ReadPackages(context.out);
  ASSERT_TRUE(packages.ok()) << packages.error().Message();
  std::vector<std::string> names;
  for (const ModelPackage& package : *packages) names.push_back(package.Name());
  EXPECT_THAT(names, testing::ElementsAre("seed_78_fold_0", "seed_80_fold_0", "seed_78_fold_3",
                                          "seed_80_fold_3"));
  EXPECT_EQ((*packages)[0].inputs->class_names[4], "CEUGBR");
  EXPECT_FALSE(FindBundleModels(folder_.File("nowhere"), context).ok());
}

TEST_F(Import, TakesAllelesFromNames) {
  context_.counted = CountedAllele::kLast;
  ASSERT_TRUE(Run().ok());
  const auto packages = ReadPackages(context_.out);
  EXPECT_EQ(packages->front().inputs->snps.counted_alleles[0], "G");
  EXPECT_EQ(packages->front().inputs->snps.other_alleles[0], "A");
  EXPECT_EQ(packages->front().inputs->snps.chromosomes[0], "chr2");
}

TEST_F(Import, RefusesABimOfOtherData) {
  context_.bim = folder_.Write("other.bim", "1\trs1\t0\t5\tA\tG\n");
  const auto few = Run();
  ASSERT_FALSE(few.ok());
  EXPECT_THAT(few.error().Message(), HasSubstr("other.bim"));
  std::string bim;
  for (int j = 0; j < 5000; ++j) bim += "2\trs\t0\t" + std::to_string(2000 + j) + "\tG\tA\n";
  context_.bim = folder_.Write("moved.bim", bim);
  const auto moved = Run();
  ASSERT_FALSE(moved.ok());
  EXPECT_THAT(moved.error().Message(), HasSubstr("order"));
}

TEST_F(Import, RefusesAnotherNumberOfClasses) {
  context_.class_names = {"A", "B"};
  const auto run = Run();
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().Message(), HasSubstr("classes"));
}

// A class without training people makes 0 / 0 in its columns.
TEST(CheckInputs, RefusesAClassWithoutTrainingPeople) {
  FoldInputs inputs;
  inputs.snps.names = {"s0", "s1"};
  inputs.means = {1, 1};
  inputs.deviations = {1, 1};
  inputs.embedding_width = 3;
  inputs.embedding = {0.5, 0.5, 0, 0, NAN, 1};
  const auto checked = CheckInputs(inputs, "fold 2");
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().Message(), HasSubstr("SNP s1"));
  EXPECT_THAT(checked.error().Message(), HasSubstr("no training samples"));
}

// A genotype that no class has makes a column of zeros, whose norm must not divide.
TEST(FoldInputs, KeepsColumnsOfZeros) {
  FoldInputs inputs;
  inputs.snps.names = {"s0", "s1"};
  inputs.embedding_width = 2;
  inputs.embedding = {3, 0, 4, 0};
  const auto descriptions = inputs.Descriptions();
  ASSERT_TRUE(descriptions.ok());
  EXPECT_THAT(*descriptions, testing::ElementsAre(0.6f, 0.f, 0.8f, 0.f));
}

TEST_F(Import, NoticesInputsThatWereReplaced) {
  ASSERT_TRUE(Run().ok());
  std::string inputs_file;
  for (const auto& entry : std::filesystem::directory_iterator(context_.out)) {
    if (entry.path().string().ends_with(".inputs.npz")) inputs_file = entry.path().string();
  }
  // The inputs of another fold under this name.
  const std::string other = folder_.File("other");
  context_.out = other;
  context_.counted = CountedAllele::kFirst;
  ASSERT_TRUE(Run().ok());
  for (const auto& entry : std::filesystem::directory_iterator(other)) {
    if (!entry.path().string().ends_with(".inputs.npz")) continue;
    std::filesystem::copy_file(entry.path(), inputs_file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  const auto read = ReadPackages(folder_.File("packages"));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().Message(), HasSubstr("replaced"));
}

}  // namespace
}  // namespace tallele

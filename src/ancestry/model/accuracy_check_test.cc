// Held-out accuracy of packages and of tables of predictions.
#include "ancestry/model/accuracy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ancestry/model/import_model.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::HasSubstr;

// Upstream says 0.824 for this model on its own held-out fold.
TEST(CheckPackages, GivesUpstreamsHeldOutAccuracy) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string d = (*shared / "dietnet/bn24-d").string();
  const auto dataset = TrainingDataset::Open(d + "/dataset.hdf5");
  ASSERT_TRUE(dataset.ok()) << dataset.error().Message();
  const TempDir folder;
  ModelFiles files;
  files.checkpoint = d + "/best_model.pt";
  files.embedding = d + "/embedding_fold0.npz";
  files.stats = d + "/input_stats_fold0.npz";
  files.seed = 78;
  ImportContext context;
  context.snp_names = dataset->snp_names();
  context.class_names = dataset->class_names();
  context.partition = d + "/partition.npz";
  context.out = folder.File("packages");
  NullEventSink sink;
  const auto imported = ImportModels({files}, context, sink, CancelToken());
  ASSERT_TRUE(imported.ok()) << imported.error().Message();
  const auto packages = ReadPackages(context.out);
  ASSERT_TRUE(packages.ok()) << packages.error().Message();
  const auto reports = CheckPackages(*packages, *dataset, {}, sink, CancelToken());
  ASSERT_TRUE(reports.ok()) << reports.error().Message();
  ASSERT_EQ(reports->size(), 1u);
  EXPECT_EQ(reports->front().num_people(), 465u);
  EXPECT_NEAR(reports->front().accuracy(), 0.824, 5e-4);
  EXPECT_THAT(FormatReport(reports->front()), HasSubstr("all\t465\t383\t0.823656"));
}

TEST(CheckPackages, RefusesAnotherDataset) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const auto tiny = TrainingDataset::Open((*shared / "dietnet/tiny/dataset.hdf5").string());
  ASSERT_TRUE(tiny.ok());
  EXPECT_EQ(tiny->num_people(), 178u);
  EXPECT_EQ(tiny->num_snps(), 300u);
  ModelPackage package;
  auto inputs = std::make_shared<FoldInputs>();
  inputs->snps.names = {"one"};
  package.inputs = inputs;
  NullEventSink sink;
  const auto reports = CheckPackages({package}, *tiny, {}, sink, CancelToken());
  ASSERT_FALSE(reports.ok());
  EXPECT_THAT(reports.error().Message(), HasSubstr("300"));
}

// A dataset that was copied in part is refused, not read as far as it goes.
TEST(TrainingDataset, RefusesTruncatedFiles) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string whole = ReadWholeFile(*shared / "dietnet/tiny/dataset.hdf5");
  const TempDir folder;
  for (size_t length = 0; length < whole.size(); length += 4099) {
    EXPECT_FALSE(TrainingDataset::Open(folder.Write("cut.h5", whole.substr(0, length))).ok());
  }
}

TEST(CheckPredictions, CountsEveryKindOfTable) {
  const TempDir folder;
  PredictionCheckRequest request;
  request.labels =
      folder.Write("labels.tsv", "id\tpop\tregion\na\tX\tr\nb\tY\tr\nc\tY\ts\nd\tX\ts\n");
  request.predictions = folder.Write(
      "ours.tsv",
      "FID\tIID\tpredicted_class\n0\ta\tX\n0\tb\tX\n0\tc\tY\n0\td\tunassigned\n0\tz\tX\n");
  const auto ours = CheckPredictions(request);
  ASSERT_TRUE(ours.ok()) << ours.error().Message();
  EXPECT_EQ(ours->num_people(), 4u);
  EXPECT_EQ(ours->num_correct(), 2u);
  EXPECT_EQ(ours->confusion[0], (std::vector<size_t>{1, 0, 1}));
  EXPECT_EQ(ours->confusion[1], (std::vector<size_t>{1, 1, 0}));
  request.predictions =
      folder.Write("upstream.txt",
                   "samples\tmodel1\tmodel2\tmodel3\tall_models\na\tX\tX\tY\tX(2),Y(1)\n"
                   "b\tX\tY\tY\tX(1),Y(2)\n");
  EXPECT_EQ(CheckPredictions(request)->num_correct(), 2u);
  request.label_column = "region";
  EXPECT_EQ(CheckPredictions(request)->num_correct(), 0u);
  request.label_column = "nowhere";
  EXPECT_FALSE(CheckPredictions(request).ok());
}

TEST(CheckPredictions, RestrictsToTheTestSamplesOfAFold) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string tiny = (*shared / "dietnet/tiny").string();
  const auto dataset = TrainingDataset::Open(tiny + "/dataset.hdf5");
  const TempDir folder;
  std::string table = "sample_id\tpredicted_class\n";
  for (size_t i = 0; i < dataset->num_people(); ++i) {
    table += dataset->samples()[i] + "\t" +
             dataset->class_names()[static_cast<size_t>(dataset->labels()[i])] + "\n";
  }
  PredictionCheckRequest request;
  request.predictions = folder.Write("p.tsv", table);
  request.labels = tiny + "/labels.tsv";
  EXPECT_EQ(CheckPredictions(request)->num_correct(), 178u);
  request.partition = tiny + "/partition_seed_a.npz";
  size_t people = 0;
  for (request.fold = 0; request.fold < 5; ++request.fold) {
    const auto report = CheckPredictions(request);
    ASSERT_TRUE(report.ok()) << report.error().Message();
    EXPECT_EQ(report->num_people(), report->num_correct());
    people += report->num_people();
  }
  EXPECT_EQ(people, 178u);
  EXPECT_FALSE(CheckPredictions(request).ok());  // there is no fold 5
}

}  // namespace
}  // namespace tallele

// Prediction end to end over rows in memory: the labels and columns follow from upstream's scores,
// and neither threads nor interruptions change a byte.
#include "ancestry/model/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>

#include "ancestry/model/ensemble.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "kernels/packed_products.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three models per person, three classes.
TEST(CombineModels, CountsVotesAndAveragesProbabilities) {
  const std::vector<double> p = {0.6, 0.4, 0.0, 0.5, 0.5, 0.0, 0.1, 0.7, 0.2};
  const PersonCall call = CombineModels(p, 3);
  EXPECT_THAT(call.model_classes, ElementsAre(0, 0, 1));  // a tie inside a model: the lowest
  EXPECT_EQ(call.vote_class, 0u);
  EXPECT_EQ(call.vote_count, 2u);
  EXPECT_EQ(call.mean_class, 1u);  // 1.6 / 3 against 1.2 / 3
  EXPECT_NEAR(call.top_probability, 1.6 / 3, 1e-15);
  EXPECT_EQ(call.second_class, 0u);
  EXPECT_NEAR(call.second_probability, 0.4, 1e-15);
  const double third = 0.2 / 3;
  EXPECT_NEAR(call.entropy,
              -(0.4 * std::log(0.4) + 1.6 / 3 * std::log(1.6 / 3) + third * std::log(third)),
              1e-14);
  const std::vector<std::string> names = {"YRI", "CHB", "FIN"};
  EXPECT_EQ(VoteText(call, names), "YRI(2),CHB(1)");
  EXPECT_EQ(VoteTextByName(call, names), "CHB(1),YRI(2)");
}

TEST(CombineModels, BreaksTiesOfVotesByTheLowestClass) {
  EXPECT_EQ(CombineModels(std::vector<double>{0, 0, 1, 0, 1, 0}, 3).vote_class, 1u);
}

TEST(UnassignedReason, NamesEveryLimitThatIsMissed) {
  const PersonCall call = CombineModels(std::vector<double>{0.6, 0.4, 0.3, 0.7}, 2);
  EXPECT_EQ(UnassignedReason(call, {}, 10), "");
  CallLimits limits;
  limits.min_agreement = 0.6;
  limits.min_probability = 0.9;
  limits.min_overlap = 1000;
  EXPECT_EQ(UnassignedReason(call, limits, 10),
            "agreement 0.5 < 0.6; probability 0.45 < 0.9; overlap 10 < 1000");
}

class RowsInMemory final : public CohortRows {
 public:
  RowsInMemory(size_t num_people, size_t num_snps) : stride_(PackedRowStride(num_snps)) {
    std::mt19937 random(7);
    for (size_t i = 0; i < num_people; ++i) {
      people_.push_back({"F" + std::to_string(i), "I" + std::to_string(i)});
    }
    for (size_t j = 0; j < num_snps; ++j) snps_.push_back(static_cast<uint32_t>(j));
    bytes_.resize(num_people * stride_);
    for (uint8_t& byte : bytes_) byte = static_cast<uint8_t>(random());
  }
  const std::vector<CohortPerson>& people() const override { return people_; }
  const std::vector<uint32_t>& model_snps() const override { return snps_; }
  const std::string& snps_identity() const override { return identity_; }
  std::string Identity() const override { return "memory"; }
  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
    if (fail_from_ >= 0 && static_cast<int>(first + count) > fail_from_) {
      return InputError("broken on purpose", "memory");
    }
    std::memcpy(rows.data(), bytes_.data() + first * stride_, count * stride_);
    return {};
  }
  void FailFrom(int person) { fail_from_ = person; }
  void SetIdentity(std::string identity) { identity_ = std::move(identity); }

 private:
  size_t stride_;
  std::vector<CohortPerson> people_;
  std::vector<uint32_t> snps_;
  std::string identity_;
  std::vector<uint8_t> bytes_;
  int fail_from_ = -1;
};

constexpr size_t kSnps = 300;
constexpr size_t kPeople = 150;

LinearLayer RandomLayer(size_t outputs, size_t inputs, bool bias, std::mt19937& random) {
  std::normal_distribution<float> normal(0, 0.5f);
  LinearLayer layer{outputs, inputs, {}, {}};
  for (size_t i = 0; i < outputs * inputs; ++i) layer.weight.push_back(normal(random));
  for (size_t i = 0; bias && i < outputs; ++i) layer.bias.push_back(normal(random));
  return layer;
}

std::vector<ModelPackage> RandomModels() {
  std::mt19937 random(3);
  auto inputs = std::make_shared<FoldInputs>();
  inputs->class_names = {"AAA", "BBB", "CCC"};
  inputs->embedding_width = 9;
  for (size_t j = 0; j < kSnps; ++j) {
    inputs->snps.names.push_back("s" + std::to_string(j));
    inputs->means.push_back(static_cast<double>(random() % 2000) / 1000);
    inputs->deviations.push_back(0.5);
    for (int e = 0; e < 9; ++e) {
      inputs->embedding.push_back(static_cast<double>(random() % 100) / 100);
    }
  }
  std::vector<ModelPackage> models;
  for (int m = 0; m < 4; ++m) {
    ModelPackage model;
    model.seed = 78 + m % 2;
    model.fold = m / 2;
    model.inputs = inputs;
    Network& n = model.network;
    n.auxiliary = {RandomLayer(6, 9, false, random), RandomLayer(20, 6, false, random)};
    n.fat_bias.assign(20, 0.1f);
    n.fat_norm = {std::vector<float>(20, 1), std::vector<float>(20, 0), std::vector<float>(20, 1),
                  std::vector<float>(20, 9), 1};
    n.hidden = {RandomLayer(7, 20, true, random)};
    n.norms = {{std::vector<float>(7, 1), std::vector<float>(7, 0), std::vector<float>(7, 0),
                std::vector<float>(7, 4), 1}};
    n.output = RandomLayer(3, 7, true, random);
    models.push_back(std::move(model));
  }
  return models;
}

PredictRequest Request(const TempDir& folder) {
  PredictRequest request;
  request.out = folder.File("p.tsv");
  request.parquet = folder.File("p.parquet");
  request.save_logits = folder.File("logits.npz");
  request.save_hidden = folder.File("hidden.npz");
  request.upstream_prefix = folder.File("up");
  request.per_model_columns = true;
  request.people_per_block = 64;
  return request;
}

std::vector<std::string> Contents(const PredictRequest& request) {
  std::vector<std::string> files;
  for (const std::string& path :
       {request.out, request.parquet, request.save_logits, request.save_hidden,
        request.upstream_prefix + "_dietnet_predictions.txt",
        request.upstream_prefix + "_DIETNET_RESULTS_BY_MODEL/up_model2_1_infered.npz"}) {
    files.push_back(ReadWholeFile(path));
  }
  return files;
}

PredictSummary PredictOrFail(const CohortRows& rows, const PredictRequest& request) {
  NullEventSink sink;
  const auto summary = Predict(RandomModels(), rows, request, sink, CancelToken());
  EXPECT_TRUE(summary.ok()) << summary.error().Message();
  return summary.ok() ? *summary : PredictSummary();
}

TEST(Predict, DoesNotDependOnThreadsAndInstructionSets) {
  const RowsInMemory rows(kPeople, kSnps);
  const TempDir first;
  PredictRequest request = Request(first);
  request.num_threads = 1;
  PredictOrFail(rows, request);
  const auto reference = Contents(request);
  for (const CpuTarget target : SupportedCpuTargets()) {
    const TempDir folder;
    PredictRequest other = Request(folder);
    other.num_threads = 3;
    other.target = target;
    PredictOrFail(rows, other);
    EXPECT_EQ(Contents(other), reference) << CpuTargetName(target);
  }
}

// A run that breaks in the middle keeps its blocks; the next one uses them and ends with the bytes
// of a run that was never broken. Nothing is published before.
TEST(Predict, ContinuesAfterAFailure) {
  RowsInMemory rows(kPeople, kSnps);
  const TempDir whole, folder;
  PredictOrFail(rows, Request(whole));
  const PredictRequest request = Request(folder);
  rows.FailFrom(130);
  NullEventSink sink;
  ASSERT_FALSE(Predict(RandomModels(), rows, request, sink, CancelToken()).ok());
  EXPECT_FALSE(std::filesystem::exists(request.out));
  EXPECT_TRUE(std::filesystem::exists(request.out + ".parts"));
  rows.FailFrom(-1);
  EXPECT_EQ(PredictOrFail(rows, request).num_resumed_blocks, 2u);
  EXPECT_EQ(Contents(request), Contents(Request(whole)));
  EXPECT_FALSE(std::filesystem::exists(request.out + ".parts"));
}

TEST(Predict, StartsOverWhenASettingChanged) {
  RowsInMemory rows(kPeople, kSnps);
  const TempDir folder;
  PredictRequest request = Request(folder);
  rows.FailFrom(130);
  NullEventSink sink;
  ASSERT_FALSE(Predict(RandomModels(), rows, request, sink, CancelToken()).ok());
  rows.FailFrom(-1);
  request.scale = 2;
  EXPECT_EQ(PredictOrFail(rows, request).num_resumed_blocks, 0u);
}

TEST(Predict, WritesATableThatAddsUp) {
  const RowsInMemory rows(kPeople, kSnps);
  const TempDir folder;
  PredictRequest request = Request(folder);
  request.limits.min_agreement = 0.9;
  const PredictSummary summary = PredictOrFail(rows, request);
  std::istringstream lines(ReadWholeFile(request.out));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(
      line,
      "FID\tIID\tpredicted_class\tpredicted_index\tmax_probability\tmodel_agreement\tvotes\t"
      "vote_class\tmean_class\tsecond_class\tsecond_probability\tentropy\toverlap_snps\tscale\t"
      "unassigned_reason\tprob_AAA\tprob_BBB\tprob_CCC\tseed_78_fold_0\tseed_79_fold_0\t"
      "seed_78_fold_1\tseed_79_fold_1");
  size_t people = 0, unassigned = 0;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    ASSERT_EQ(row.size(), 22u) << line;
    EXPECT_EQ(row[1], "I" + std::to_string(people++));
    EXPECT_NEAR(std::stod(row[15]) + std::stod(row[16]) + std::stod(row[17]), 1, 1e-5);
    const bool agree = std::stod(row[5]) >= 0.9;
    EXPECT_EQ(row[2] == "unassigned", !agree);
    EXPECT_EQ(row[14] == ".", agree);
    unassigned += !agree;
    EXPECT_EQ(row[12], "300");
    EXPECT_EQ(row[13], "1");
  }
  EXPECT_EQ(people, kPeople);
  EXPECT_EQ(summary.num_unassigned, unassigned);
  const auto zip = ZipArchive::Open(request.save_logits);
  const auto logits = ReadNpyDoubles(*zip->Read("logits.npy"), "logits");
  ASSERT_TRUE(logits.ok()) << logits.error().Message();
  EXPECT_THAT(logits->shape, ElementsAre(kPeople, 4, 3));
  const auto hidden =
      ReadNpyDoubles(*ZipArchive::Open(request.save_hidden)->Read("hidden.npy"), "h");
  EXPECT_THAT(hidden->shape, ElementsAre(kPeople, 28));
}

class WarningSink final : public EventSink {
 public:
  void Message(Severity severity, std::string_view text) override {
    if (severity == Severity::kWarning) warnings += text;
  }
  void Progress(const ProgressReport&) override {}
  std::string warnings;
};

TEST(Predict, WarnsBelowAThousandSharedSnps) {
  const RowsInMemory rows(10, kSnps);
  const TempDir folder;
  WarningSink sink;
  ASSERT_TRUE(Predict(RandomModels(), rows, Request(folder), sink, CancelToken()).ok());
  EXPECT_THAT(sink.warnings, HasSubstr("Only 300 of the model's SNPs"));
}

TEST(Predict, RefusesACohortMatchedWithAnotherModel) {
  RowsInMemory rows(10, kSnps);
  rows.SetIdentity(std::string(64, '0'));
  const TempDir folder;
  NullEventSink sink;
  const auto summary = Predict(RandomModels(), rows, Request(folder), sink, CancelToken());
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().Message(), HasSubstr("different models"));
}

// Raw genotypes, missing calls filled with the mean, against plain sums.
TEST(Predict, FillsMissingCallsWhenTheModelTakesRawGenotypes) {
  std::vector<ModelPackage> models = {RandomModels().front()};
  models[0].normalised = false;
  const RowsInMemory rows(5, kSnps);
  EnsembleOptions options;
  const auto ensemble = Ensemble::Create(models, rows.model_snps(), options);
  ASSERT_TRUE(ensemble.ok()) << ensemble.error().Message();
  std::vector<uint8_t> bytes(5 * PackedRowStride(kSnps));
  ASSERT_TRUE(rows.Read(0, 5, bytes).ok());
  Ensemble::Workspace workspace;
  EnsembleBlock block;
  ensemble->Evaluate({bytes.data(), PackedRowStride(kSnps), 5, kSnps}, false, workspace, block);
  const std::vector<float> descriptions = *models[0].inputs->Descriptions();
  const AuxiliaryNetwork auxiliary(models[0].network);
  const NetworkTail tail(models[0].network);
  for (size_t r = 0; r < 5; ++r) {
    std::vector<double> z(20), row(20), scratch;
    for (size_t j = 0; j < kSnps; ++j) {
      auxiliary.Evaluate(descriptions.data() + 9 * j, scratch, row.data());
      const int code = bytes[r * PackedRowStride(kSnps) + j / 4] >> (2 * (j % 4)) & 3;
      const double x = code == 3 ? models[0].inputs->means[j] : code;
      for (size_t h = 0; h < 20; ++h) z[h] += x * row[h];
    }
    NetworkTail::Output output;
    tail.Evaluate(z.data(), output);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(block.probabilities[3 * r + c], output.probabilities[c], 1e-5);
    }
  }
}

TEST(Predict, RefusesTooFewSnpsWhenAsked) {
  const RowsInMemory rows(10, kSnps);
  const TempDir folder;
  PredictRequest request = Request(folder);
  request.require_overlap = 1000;
  NullEventSink sink;
  const auto summary = Predict(RandomModels(), rows, request, sink, CancelToken());
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().Message(), HasSubstr("300"));
}

}  // namespace
}  // namespace tallele

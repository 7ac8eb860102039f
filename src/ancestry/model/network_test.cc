// Evaluation: the fixed elementary functions against the C library, the exact ensemble against a
// plain float64 evaluator, and the model of upstream against upstream's own scores.
#include "ancestry/model/network.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ancestry/model/ensemble.h"
#include "ancestry/model/fixed_math.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

TEST(FixedMath, AgreesWithTheCLibrary) {
  for (double x = -30; x < 30; x += 0.00713) {
    EXPECT_NEAR(FixedExp(x) / std::exp(x), 1, 1e-15) << x;
    EXPECT_NEAR(FixedTanh(x) / std::tanh(x), 1, 1e-15) << x;
  }
  for (double x = 1e-8; x < 1; x *= 1.01) EXPECT_NEAR(FixedTanh(x) / std::tanh(x), 1, 1e-15) << x;
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(FixedLog(x), std::log(x), 1e-15 * std::max(1.0, std::fabs(std::log(x)))) << x;
  }
}

TEST(FixedMath, HasTheRightEnds) {
  EXPECT_EQ(FixedExp(0), 1);
  EXPECT_EQ(FixedExp(-1000), 0);
  EXPECT_TRUE(std::isinf(FixedExp(1000)));
  EXPECT_GT(FixedExp(-740), 0);  // subnormal
  EXPECT_EQ(FixedTanh(0), 0);
  EXPECT_EQ(FixedTanh(50), 1);
  EXPECT_EQ(FixedTanh(-50), -1);
  EXPECT_TRUE(std::isnan(FixedTanh(NAN)));
  EXPECT_EQ(FixedLog(1), 0);
}

// The network of one person in float64, as the documentation states it, nothing folded together.
// `x`: the genotypes, -1 is missing.
std::vector<double> PlainScores(const Network& n, const std::vector<std::vector<double>>& fat,
                                const FoldInputs& inputs, const std::vector<int>& x, double scale) {
  const size_t width = n.fat_width();
  std::vector<double> h(n.fat_bias.begin(), n.fat_bias.end());
  for (size_t j = 0; j < x.size(); ++j) {
    if (x[j] < 0 || inputs.IsDegenerate(j)) continue;
    const double mu = static_cast<float>(inputs.means[j]);
    const double sd = static_cast<float>(inputs.deviations[j]);
    for (size_t k = 0; k < width; ++k) h[k] += scale * (x[j] - mu) / sd * fat[j][k];
  }
  const auto relu_norm = [](const BatchNorm& norm, std::vector<double>& v) {
    for (size_t k = 0; k < v.size(); ++k) {
      v[k] = (std::max(v[k], 0.0) - norm.mean[k]) / std::sqrt(norm.variance[k] + 1e-5) *
                 norm.weight[k] +
             norm.bias[k];
    }
  };
  const auto linear = [](const LinearLayer& layer, const std::vector<double>& v) {
    std::vector<double> out(layer.num_outputs);
    for (size_t o = 0; o < out.size(); ++o) {
      out[o] = layer.bias[o];
      for (size_t i = 0; i < v.size(); ++i) out[o] += layer.weight[o * v.size() + i] * v[i];
    }
    return out;
  };
  relu_norm(n.fat_norm, h);
  for (size_t l = 0; l < n.hidden.size(); ++l) {
    h = linear(n.hidden[l], h);
    relu_norm(n.norms[l], h);
  }
  std::vector<double> p = linear(n.output, h);
  const double top = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& v : p) total += v = std::exp(v - top);
  for (double& v : p) v /= total;
  return p;
}

std::vector<std::vector<double>> PlainFatLayer(const Network& n, const FoldInputs& inputs) {
  const std::vector<double> embedding = *inputs.LoadEmbedding();
  std::vector<double> norm(inputs.embedding_width);
  for (size_t i = 0; i < embedding.size(); ++i) {
    norm[i % norm.size()] += embedding[i] * embedding[i];
  }
  std::vector<std::vector<double>> fat;
  for (size_t j = 0; j < inputs.num_snps(); ++j) {
    std::vector<double> a(norm.size());
    for (size_t e = 0; e < a.size(); ++e) {
      a[e] = norm[e] > 0 ? embedding[j * a.size() + e] / std::sqrt(norm[e]) : 0;
    }
    for (const LinearLayer& layer : n.auxiliary) {
      std::vector<double> out(layer.num_outputs);
      for (size_t o = 0; o < out.size(); ++o) {
        for (size_t i = 0; i < a.size(); ++i) out[o] += layer.weight[o * a.size() + i] * a[i];
        out[o] = std::tanh(out[o]);
      }
      a = out;
    }
    fat.push_back(a);
  }
  return fat;
}

std::vector<double> ReadNpz(const std::string& path, const std::string& key) {
  return ReadNpyDoubles(*ZipArchive::Open(path)->Read(key + ".npy"), path)->values;
}

struct Panel {
  size_t num_people = 0, num_snps = 0;
  std::vector<int8_t> genotypes;
};

Panel ReadPanel(const std::string& path) {
  Panel panel;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "inputs", H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  hsize_t shape[2];
  H5Sget_simple_extent_dims(space, shape, nullptr);
  panel.num_people = shape[0];
  panel.num_snps = shape[1];
  panel.genotypes.resize(shape[0] * shape[1]);
  H5Dread(data, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, panel.genotypes.data());
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return panel;
}

struct Packed {
  AlignedBuffer storage;
  PackedRows rows;
};

// The listed people and SNPs as 2-bit rows.
Packed Pack(const Panel& panel, const std::vector<size_t>& people,
            const std::vector<uint32_t>& snps) {
  Packed packed;
  packed.rows.num_rows = people.size();
  packed.rows.num_snps = snps.size();
  packed.rows.stride = PackedRowStride(snps.size());
  packed.storage.ResizeZeroed(people.size() * packed.rows.stride);
  auto* data = reinterpret_cast<uint8_t*>(packed.storage.data());
  packed.rows.data = data;
  for (size_t r = 0; r < people.size(); ++r) {
    for (size_t j = 0; j < snps.size(); ++j) {
      const int8_t x = panel.genotypes[people[r] * panel.num_snps + snps[j]];
      data[r * packed.rows.stride + j / 4] |= (x < 0 ? 3 : x) << (2 * (j % 4));
    }
  }
  return packed;
}

std::vector<uint32_t> AllSnps(size_t count) {
  std::vector<uint32_t> snps(count);
  std::iota(snps.begin(), snps.end(), 0u);
  return snps;
}

// The panel D model of upstream with its fold's inputs.
ModelPackage UpstreamModel(const std::string& folder) {
  ModelPackage package;
  package.seed = 78;
  const auto checkpoint = ReadCheckpoint(folder + "/best_model.pt");
  package.network = *NetworkFromState(*checkpoint, "best_model.pt");
  auto inputs = std::make_shared<FoldInputs>();
  inputs->means = ReadNpz(folder + "/input_stats_fold0.npz", "means_by_fold");
  inputs->deviations = ReadNpz(folder + "/input_stats_fold0.npz", "sd_by_fold");
  inputs->embedding = ReadNpz(folder + "/embedding_fold0.npz", "emb");
  inputs->embedding_width = 72;
  for (size_t j = 0; j < inputs->means.size(); ++j) {
    inputs->snps.names.push_back("snp" + std::to_string(j));
  }
  for (int c = 0; c < 24; ++c) inputs->class_names.push_back("C" + std::to_string(c));
  package.inputs = inputs;
  return package;
}

EnsembleBlock Predict(const std::vector<ModelPackage>& packages, const PackedRows& rows,
                      const std::vector<uint32_t>& snps, EnsembleOptions options = {}) {
  const auto ensemble = Ensemble::Create(packages, snps, options);
  EXPECT_TRUE(ensemble.ok()) << ensemble.error().Message();
  Ensemble::Workspace workspace;
  EnsembleBlock block;
  ensemble->Evaluate(rows, true, workspace, block);
  return block;
}

size_t ArgMax(const double* p, size_t n) {
  return static_cast<size_t>(std::max_element(p, p + n) - p);
}

// Upstream's float32 scores of its own test set, person by person, and its accuracy of 0.824.
TEST(Ensemble, GivesTheScoresOfUpstream) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string folder = (*shared / "dietnet/bn24-d").string();
  const std::string results = folder + "/test_results_epoch300.npz";
  const std::vector<double> rows = ReadNpz(results, "samples");
  const std::vector<double> labels = ReadNpz(results, "labels");
  const std::vector<double> scores = ReadNpz(results, "scores");
  const Panel panel = ReadPanel(folder + "/dataset.hdf5");
  const std::vector<uint32_t> snps = AllSnps(panel.num_snps);
  const Packed packed = Pack(panel, std::vector<size_t>(rows.begin(), rows.end()), snps);
  const EnsembleBlock block = Predict({UpstreamModel(folder)}, packed.rows, snps);
  ASSERT_EQ(block.probabilities.size(), scores.size());
  double largest = 0;
  int correct = 0, upstream_correct = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    largest = std::max(largest, std::fabs(block.probabilities[i] - scores[i]));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto label = static_cast<size_t>(labels[r]);
    correct += ArgMax(&block.probabilities[24 * r], 24) == label;
    upstream_correct += ArgMax(&scores[24 * r], 24) == label;
  }
  EXPECT_LT(largest, 1e-5);
  EXPECT_EQ(correct, upstream_correct);
  EXPECT_NEAR(correct / static_cast<double>(rows.size()), 0.824, 5e-4);
}

// Absent SNPs and missing calls against the plain evaluator, which the exact product must meet to
// 1e-5 on probabilities; the same bits for every instruction set and grouping of people.
TEST(Ensemble, AgreesWithAPlainEvaluatorWhenSnpsAreAbsent) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string folder = (*shared / "dietnet/bn24-d").string();
  Panel panel = ReadPanel(folder + "/dataset.hdf5");
  std::mt19937 random(5);
  for (int8_t& x : panel.genotypes) {
    if (random() % 20 == 0) x = -1;
  }
  std::vector<uint32_t> snps;
  for (uint32_t j = 0; j < panel.num_snps; ++j) {
    if (random() % 3 != 0) snps.push_back(j);
  }
  std::vector<size_t> people(40);
  std::iota(people.begin(), people.end(), size_t{100});
  const Packed packed = Pack(panel, people, snps);
  const ModelPackage model = UpstreamModel(folder);
  ModelPackage second = model;  // the same fold, other weights
  second.seed = 79;
  for (float& w : second.network.auxiliary[0].weight) w *= 1.25f;
  const std::vector<ModelPackage> models = {model, second};
  const EnsembleBlock block = Predict(models, packed.rows, snps);
  const double scale = static_cast<double>(panel.num_snps) / static_cast<double>(snps.size());
  for (size_t m = 0; m < models.size(); ++m) {
    const auto fat = PlainFatLayer(models[m].network, *models[m].inputs);
    for (size_t r = 0; r < people.size(); ++r) {
      std::vector<int> x(panel.num_snps, -1);
      for (const uint32_t j : snps) x[j] = panel.genotypes[people[r] * panel.num_snps + j];
      const auto plain = PlainScores(models[m].network, fat, *models[m].inputs, x, scale);
      for (size_t c = 0; c < 24; ++c) {
        EXPECT_NEAR(block.probabilities[(2 * r + m) * 24 + c], plain[c], 1e-5);
      }
    }
  }
  for (const CpuTarget target : SupportedCpuTargets()) {
    EnsembleOptions options;
    options.target = target;
    const auto ensemble = Ensemble::Create(models, snps, options);
    std::vector<double> logits;
    Ensemble::Workspace workspace;
    EnsembleBlock part;
    for (size_t first = 0; first < people.size(); first += 7) {
      PackedRows rows = packed.rows;
      rows.data = packed.rows.row(first);
      rows.num_rows = std::min<size_t>(7, people.size() - first);
      ensemble->Evaluate(rows, false, workspace, part);
      logits.insert(logits.end(), part.logits.begin(), part.logits.end());
    }
    EXPECT_EQ(logits, block.logits) << CpuTargetName(target);
  }
}

// A SNP that did not vary in training has the sd 1e-6: by default it counts for nothing, neither in
// the sums nor in the scale; with --faithful it enters as upstream lets it.
TEST(Ensemble, LeavesOutSnpsThatDidNotVaryInTraining) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string folder = (*shared / "dietnet/bn24-d").string();
  const Panel panel = ReadPanel(folder + "/dataset.hdf5");
  ModelPackage model = UpstreamModel(folder);
  auto inputs = std::make_shared<FoldInputs>(*model.inputs);
  inputs->deviations[10] = 1e-6;
  inputs->means[10] = 0;
  inputs->deviations[11] = NAN;
  model.inputs = inputs;
  const std::vector<uint32_t> snps = AllSnps(panel.num_snps);
  const Packed packed = Pack(panel, {0, 1, 2, 3, 4, 5}, snps);
  const EnsembleBlock block = Predict({model}, packed.rows, snps);
  std::vector<uint32_t> without = snps;
  without.erase(without.begin() + 10, without.begin() + 12);
  const Packed fewer = Pack(panel, {0, 1, 2, 3, 4, 5}, without);
  EXPECT_EQ(block.logits, Predict({model}, fewer.rows, without).logits);

  EnsembleOptions faithful;
  faithful.faithful = true;
  EXPECT_FALSE(Ensemble::Create({model}, snps, faithful).ok());  // the NaN
  without = snps;
  without.erase(without.begin() + 11);
  const Packed kept = Pack(panel, {0, 1, 2, 3, 4, 5}, without);
  const EnsembleBlock swamped = Predict({model}, kept.rows, without, faithful);
  EXPECT_NE(swamped.logits, block.logits);
}

}  // namespace
}  // namespace tallele

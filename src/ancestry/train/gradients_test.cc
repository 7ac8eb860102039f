#include <gtest/gtest.h>

#include <cmath>

#include <tbb/task_arena.h>

#include "ancestry/train/adam.h"
#include "ancestry/train/fat_layer.h"
#include "ancestry/train/main_network.h"
#include "ancestry/train/training_random.h"
#include "base/random.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

// A small problem with random genotypes, weights and masks.
struct Problem {
  static constexpr size_t kSnps = 2300, kPeople = 9, kClasses = 3;

  NetworkShape shape;
  std::vector<float> descriptions;
  std::vector<double> means, deviations;
  std::vector<uint8_t> bytes;
  std::vector<std::vector<uint32_t>> kept;  // of each person
  std::vector<int64_t> classes;
  ModelState state;
  InputTables tables;
  SparseInputs sparse;
  DenseInputs dense;
  std::vector<uint8_t> dense_bytes;

  explicit Problem(double dropout) {
    shape.num_snps = kSnps;
    shape.embedding_width = 3 * kClasses;
    shape.auxiliary = {7, 5};
    shape.main = {5, 6};
    shape.num_outputs = kClasses;
    RandomStream random(5, 1);
    const size_t stride = PackedRowStride(kSnps);
    for (size_t i = 0; i < kSnps * shape.embedding_width; ++i) {
      descriptions.push_back(static_cast<float>(random.NextUniform() * 0.5));
    }
    for (size_t j = 0; j < kSnps; ++j) {
      means.push_back(2 * random.NextUniform());
      deviations.push_back(0.3 + random.NextUniform());
    }
    bytes.resize(kPeople * stride);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.NextWord());
    TorchRandom torch(3);
    state = InitialState(shape, 0.5, torch);
    tables = InputTables(means, deviations, true, static_cast<float>(1 / (1 - dropout)));
    const auto keyed = MakeTrainingRandom(TrainEngine::kDietnet, 8, torch);
    SparseBuilder builder;
    builder.Begin(kSnps, kPeople);
    dense_bytes = bytes;
    for (size_t i = 0; i < kPeople; ++i) {
      classes.push_back(static_cast<int64_t>(i % kClasses));
      InputSelection selection;
      keyed->SelectInputs(1, static_cast<int64_t>(i), kSnps, dropout, selection);
      if (!selection.lists_kept) InvertSelection(kSnps, selection);
      builder.SetPerson(i, bytes.data() + i * stride, selection.snps, tables);
      kept.push_back(selection.snps);
      InvertSelection(kSnps, selection);
      uint8_t* row = dense_bytes.data() + i * stride;
      for (const uint32_t snp : selection.snps) {
        row[snp / 4] = static_cast<uint8_t>(row[snp / 4] | 3 << (2 * (snp % 4)));
      }
      dense.rows.push_back(row);
    }
    builder.Finish(sparse);
  }

  double Input(size_t person, size_t snp) const {
    const uint8_t byte = bytes[person * PackedRowStride(kSnps) + snp / 4];
    return static_cast<double>(tables.value(snp, byte >> (2 * (snp % 4)) & 3));
  }

  // Loss and gradients, by either path.
  float Run(bool is_sparse, Parameters& gradients) {
    FatLayer fat(shape, descriptions, CpuTarget::kScalar);
    MainNetwork main(CpuTarget::kScalar);
    ModelState copy = state;
    gradients = Parameters::Zeros(shape);
    FloatTable sums, sums_gradient;
    const BatchTargets targets{classes, {}};
    if (is_sparse) {
      fat.Forward(copy.parameters, sparse, kPeople, sums);
    } else {
      fat.Forward(copy.parameters, dense, tables, sums);
    }
    const float loss = main.Forward(sums, targets, 0.25, Mask, copy);
    main.Backward(copy, gradients, sums_gradient);
    if (is_sparse) {
      fat.Backward(copy.parameters, sparse, sums_gradient, gradients);
    } else {
      fat.Backward(copy.parameters, dense, tables, sums_gradient, gradients);
    }
    return loss;
  }

  static bool Keeps(size_t layer, size_t place) { return (place * 7 + layer) % 4 != 0; }
  static void Mask(size_t layer, size_t, size_t, std::span<uint8_t> keep) {
    for (size_t i = 0; i < keep.size(); ++i) keep[i] = Keeps(layer, i) ? 1 : 0;
  }

  // The same loss in double, straight from the formulas.
  double PlainLoss() const {
    const Parameters& p = state.parameters;
    std::vector<std::vector<double>> h(kPeople, std::vector<double>(5, 0.0));
    for (size_t j = 0; j < kSnps; ++j) {
      std::vector<double> a(descriptions.begin() + static_cast<ptrdiff_t>(j * 9),
                            descriptions.begin() + static_cast<ptrdiff_t>(j * 9 + 9));
      for (const FloatTable& weight : p.auxiliary) {
        std::vector<double> next(weight.columns(), 0.0);
        for (size_t c = 0; c < next.size(); ++c) {
          for (size_t k = 0; k < a.size(); ++k) {
            next[c] += a[k] * static_cast<double>(weight.at(k, c));
          }
          next[c] = std::tanh(next[c]);
        }
        a = next;
      }
      for (size_t i = 0; i < kPeople; ++i) {
        if (!std::binary_search(kept[i].begin(), kept[i].end(), static_cast<uint32_t>(j))) continue;
        for (size_t c = 0; c < 5; ++c) h[i][c] += Input(i, j) * a[c];
      }
    }
    h = Normalise(h, p.fat_bias, p.norms[0], 0);
    h = Normalise(Linear(h, p.hidden[0].weight), p.hidden[0].bias, p.norms[1], 1);
    h = Linear(h, p.output.weight);
    double loss = 0;
    for (size_t i = 0; i < kPeople; ++i) {
      double sum = 0;
      for (size_t c = 0; c < kClasses; ++c) {
        sum += std::exp(h[i][c] + static_cast<double>(p.output.bias.at(0, c)));
      }
      const auto truth = static_cast<size_t>(classes[i]);
      loss += std::log(sum) - h[i][truth] - static_cast<double>(p.output.bias.at(0, truth));
    }
    return loss / static_cast<double>(kPeople);
  }

  using Rows = std::vector<std::vector<double>>;
  static Rows Linear(const Rows& in, const FloatTable& weight) {
    Rows out(in.size(), std::vector<double>(weight.columns(), 0.0));
    for (size_t i = 0; i < in.size(); ++i) {
      for (size_t k = 0; k < weight.rows(); ++k) {
        for (size_t c = 0; c < weight.columns(); ++c) {
          out[i][c] += in[i][k] * static_cast<double>(weight.at(k, c));
        }
      }
    }
    return out;
  }

  // Dropout(BN(relu(z + bias))).
  static Rows Normalise(const Rows& z, const FloatTable& bias, const NormParameters& norm,
                        size_t layer) {
    Rows out = z;
    const size_t width = z[0].size();
    for (size_t c = 0; c < width; ++c) {
      double mean = 0, variance = 0;
      for (auto& row : out) {
        row[c] = std::max(0.0, row[c] + static_cast<double>(bias.at(0, c)));
        mean += row[c] / static_cast<double>(kPeople);
      }
      for (auto& row : out) {
        variance += (row[c] - mean) * (row[c] - mean) / static_cast<double>(kPeople);
      }
      for (size_t i = 0; i < kPeople; ++i) {
        const double x = (out[i][c] - mean) / std::sqrt(variance + 1e-5) *
                             static_cast<double>(norm.weight.at(0, c)) +
                         static_cast<double>(norm.bias.at(0, c));
        out[i][c] = Keeps(layer, i * width + c) ? x / 0.75 : 0.0;
      }
    }
    return out;
  }
};

void ExpectClose(const Parameters& a, const Parameters& b, double tolerance) {
  const auto x = a.AllTables(), y = b.AllTables();
  const auto names = a.TableNames();
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t i = 0; i < x[t]->all().size(); ++i) {
      EXPECT_NEAR(x[t]->all()[i], y[t]->all()[i], tolerance) << names[t] << " " << i;
    }
  }
}

// Protects every formula of Backward: central differences of a loss that shares no code with it.
TEST(Gradients, AreTheDifferencesOfThePlainLoss) {
  Problem problem(0.9);
  Parameters gradients;
  const float loss = problem.Run(true, gradients);
  EXPECT_NEAR(loss, problem.PlainLoss(), 1e-5);
  const auto names = gradients.TableNames();
  const auto expected = gradients.AllTables();
  std::vector<FloatTable*> tables = problem.state.parameters.AuxiliaryTables();
  for (FloatTable* table : problem.state.parameters.MainTables()) tables.push_back(table);
  ASSERT_EQ(names.size(), tables.size());
  for (size_t t = 0; t < tables.size(); ++t) {
    // A bias ahead of a norm hardly matters, so an absolute tolerance stands beside the relative.
    for (size_t place : {size_t{0}, tables[t]->columns() - 1}) {
      const size_t row = tables[t]->rows() - 1;
      float& weight = tables[t]->at(row, place);
      const float before = weight;
      constexpr float kStep = 1.0f / 1024;
      weight = before + kStep;
      const double up = problem.PlainLoss();
      weight = before - kStep;
      const double down = problem.PlainLoss();
      weight = before;
      const double difference = (up - down) / (2 * static_cast<double>(kStep));
      EXPECT_NEAR(expected[t]->at(row, place), difference, 2e-4 + 0.01 * std::fabs(difference))
          << names[t];
    }
  }
}

// Protects the choice of path: the same masks give the same gradients.
TEST(Gradients, OfTheSparseAndTheDensePathAgree) {
  for (const double dropout : {0.0, 0.5, 0.99}) {
    Problem problem(dropout);
    Parameters sparse, dense;
    EXPECT_NEAR(problem.Run(true, sparse), problem.Run(false, dense), 1e-5);
    ExpectClose(sparse, dense, 1e-5);
  }
}

TEST(Gradients, KeepTheirBitsForAnyNumberOfThreads) {
  Problem problem(0.9);
  for (const bool is_sparse : {true, false}) {
    Parameters one, four;
    tbb::task_arena(1).execute([&] { problem.Run(is_sparse, one); });
    tbb::task_arena(4).execute([&] { problem.Run(is_sparse, four); });
    ExpectClose(one, four, 0);
  }
}

// Protects Adam's eps, which hardly shows in whole trainings: with a tiny gradient g the first step
// is rate * g / (|g| + 1e-8).
TEST(Adam, AddsItsEpsilonToTheRoot) {
  for (const float g : {1e-8f, 3e-8f, -2e-7f, 1.0f}) {
    FloatTable weight(1, 1), gradient(1, 1), first(1, 1), second(1, 1);
    gradient.at(0, 0) = g;
    AdamStep(0.5, 1, {&weight}, {&gradient}, {&first}, {&second});
    const double size = std::fabs(static_cast<double>(g));
    EXPECT_NEAR(weight.at(0, 0), -0.5 * static_cast<double>(g) / (size + 1e-8), 1e-4) << g;
  }
}

// Three steps against the formulas of Kingma and Ba in double.
TEST(Adam, FollowsTheBiasCorrectedMoments) {
  FloatTable weight(1, 1), gradient(1, 1), first(1, 1), second(1, 1);
  double p = 0, m = 0, v = 0;
  const double gradients[] = {0.5, -0.1, 0.02};
  for (int t = 1; t <= 3; ++t) {
    const double g = gradients[t - 1];
    gradient.at(0, 0) = static_cast<float>(g);
    AdamStep(0.01, t, {&weight}, {&gradient}, {&first}, {&second});
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    p -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(weight.at(0, 0), p, 1e-7) << t;
  }
}

// NumPy: RandomState(78)._bit_generator.random_raw(6).
TEST(TorchRandom, DrawsTheWordsOfNumPysGenerator) {
  TorchRandom random(78);
  for (const uint32_t word :
       {206936773u, 3811066326u, 2924713879u, 2462552104u, 3430373481u, 2562300214u}) {
    EXPECT_EQ(random.NextWord(), word);
  }
  TorchRandom other(1);
  ASSERT_TRUE(other.Restore(random.State()));
  EXPECT_EQ(other.NextWord(), random.NextWord());
  EXPECT_FALSE(other.Restore("keyed"));
}

// Protects dropout's share, and that persons and epochs have masks of their own.
TEST(KeyedRandom, KeepsTheStatedShare) {
  const auto random = MakeTrainingRandom(TrainEngine::kDietnet, 78, TorchRandom(78));
  constexpr size_t kSnps = 200000;
  for (const double dropout : {0.1, 0.5, 0.995}) {
    InputSelection one, other, epoch;
    random->SelectInputs(1, 3, kSnps, dropout, one);
    random->SelectInputs(1, 4, kSnps, dropout, other);
    random->SelectInputs(2, 3, kSnps, dropout, epoch);
    EXPECT_NE(one.snps, other.snps);
    EXPECT_NE(one.snps, epoch.snps);
    if (!one.lists_kept) InvertSelection(kSnps, one);
    const double expected = (1 - dropout) * kSnps;
    EXPECT_NEAR(static_cast<double>(one.snps.size()), expected, 5 * std::sqrt(expected * dropout));
  }
}

}  // namespace
}  // namespace tallele

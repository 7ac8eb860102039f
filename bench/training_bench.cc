// CPU time of training steps of a Diet Network beside the count of operations and OpenBLAS sgemm.
//
//   training_bench [SNPs [people [batch [input dropout [steps [threads [path]]]]]]]
//
// Random packed rows in memory; 24 classes (72 values describe a SNP), auxiliary and main layers of
// 100 units. Prints the parts of a step, the rate of the auxiliary work against that of sgemm (its
// best shape and the auxiliary layers' own), and what an epoch of 292,048 people takes at this
// rate. `path` is sparse, dense, or choose (default). For the instruction set that
// TALLELE_CPU_TARGET names or the fastest one; give OpenBLAS its best kernel with OPENBLAS_CORETYPE
// and OPENBLAS_NUM_THREADS=1.
#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <tbb/global_control.h>

#include "ancestry/train/adam.h"
#include "ancestry/train/batch_loader.h"
#include "ancestry/train/fat_layer.h"
#include "ancestry/train/main_network.h"
#include "ancestry/train/training_random.h"
#include "base/aligned_buffer.h"
#include "base/random.h"
#include "kernels/packed_products.h"

namespace {

using namespace tallele;

constexpr size_t kClasses = 24, kWidth = 100;
constexpr double kPublishedPeople = 292048;

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double ProcessCpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// One thread is timed by its CPU time, which others on the machine disturb less.
bool time_is_cpu = true;
double Seconds() { return time_is_cpu ? ProcessCpuSeconds() : WallSeconds(); }

double PeakMegabytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}

// 2-bit rows of random genotypes, none missing.
class RandomRows : public RowSource {
 public:
  RandomRows(size_t people, size_t snps) : stride_(PackedRowStride(snps)) {
    bytes_.ResizeZeroed(people * stride_);
    auto* words = reinterpret_cast<uint32_t*>(bytes_.data());
    RandomStream random(1, 1);
    for (size_t i = 0; i < bytes_.size() / sizeof(uint32_t); ++i) {
      const uint32_t a = random.NextWord(), b = random.NextWord();
      const uint32_t low = (a ^ b) & 0x55555555, high = (a & b & 0x55555555) << 1;
      words[i] = low | high;
    }
  }
  Result<void> Rows(std::span<const int64_t> people, std::vector<uint8_t>&,
                    std::vector<const uint8_t*>& rows) const override {
    rows.clear();
    for (const int64_t person : people) {
      rows.push_back(reinterpret_cast<const uint8_t*>(bytes_.data()) +
                     static_cast<size_t>(person) * stride_);
    }
    return {};
  }
  std::string Description() const override { return "random 2-bit rows"; }
  double megabytes() const { return static_cast<double>(bytes_.size()) / (1024.0 * 1024.0); }

 private:
  size_t stride_;
  AlignedBuffer bytes_;
};

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

Sgemm FindSgemm() {
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
    if (void* library = dlopen(name, RTLD_NOW)) {
      if (void* function = dlsym(library, "cblas_sgemm")) {
        return reinterpret_cast<Sgemm>(function);
      }
    }
  }
  return nullptr;
}

// GFLOP/s of sgemm on m x k times k x n, the best of some.
double SgemmRate(Sgemm sgemm, size_t m, size_t n, size_t k) {
  std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
  double best = 0;
  for (int repetition = 0; repetition < 7; ++repetition) {
    const double start = ProcessCpuSeconds();
    sgemm(101, 111, 111, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1, a.data(),
          static_cast<int>(k), b.data(), static_cast<int>(n), 0, c.data(), static_cast<int>(n));
    const double flop =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    best = std::max(best, 1e-9 * flop / (ProcessCpuSeconds() - start));
  }
  return best;
}

struct Parts {
  double prepare = 0, forward = 0, main = 0, backward = 0, adam = 0;
  double Sum() const { return prepare + forward + main + backward + adam; }
};

// The steps of Trainer::TrainBatch, each part timed.
class Steps {
 public:
  Steps(size_t snps, size_t people, size_t batch, double dropout, BatchPath path, CpuTarget target)
      : fat_(Shape(snps), MakeDescriptions(snps), target), main_(target) {
    shape_ = Shape(snps);
    data_.num_snps = snps;
    auto rows = std::make_shared<RandomRows>(people, snps);
    rows_megabytes = rows->megabytes();
    data_.rows = rows;
    for (size_t i = 0; i < people; ++i) {
      people_.push_back(static_cast<int64_t>(i));
      data_.classes.push_back(static_cast<int64_t>(i % kClasses));
    }
    data_.class_names.resize(kClasses);
    const std::vector<double> means(snps, 0.95), deviations(snps, 0.7);
    tables_ = InputTables(means, deviations, true, static_cast<float>(1 / (1 - dropout)));
    options_.batch_size = batch;
    options_.input_dropout = dropout;
    options_.unit_dropout = 0.1;
    options_.unit_widths = shape_.main;
    options_.prefetch = false;
    options_.path = path;
    TorchRandom torch(78);
    state_ = InitialState(shape_, 0.02, torch);
    first_ = second_ = gradients_ = Parameters::Zeros(shape_);
    random_ = MakeTrainingRandom(TrainEngine::kDietnet, 78, torch);
  }

  double rows_megabytes = 0;
  double snps_that_count = 0;  // of the last batch
  double entries = 0;

  // One pass over everyone; false when reading failed.
  bool Epoch(int64_t epoch, size_t most_steps, std::vector<Parts>& steps) {
    BatchLoader loader(data_, tables_, options_, people_,
                       random_->BeginShuffledPass(epoch, 0, people_.size()), epoch, *random_);
    while (steps.size() < most_steps) {
      Parts parts;
      double at = Seconds();
      const auto lap = [&](double& part) {
        const double now = Seconds();
        part = now - at;
        at = now;
      };
      const auto batch = loader.Next();
      if (!batch.ok()) return false;
      if (!batch->has_value()) return true;
      lap(parts.prepare);
      Step(**batch, parts, lap);
      steps.push_back(parts);
    }
    return true;
  }

 private:
  static NetworkShape Shape(size_t snps) {
    NetworkShape shape;
    shape.num_snps = snps;
    shape.embedding_width = 3 * kClasses;
    shape.auxiliary = {kWidth, kWidth};
    shape.main = {kWidth, kWidth};
    shape.num_outputs = kClasses;
    return shape;
  }

  std::span<const float> MakeDescriptions(size_t snps) {
    RandomStream random(2, 1);
    descriptions_.resize(snps * 3 * kClasses);
    for (float& x : descriptions_) x = static_cast<float>(random.NextUniform() * 0.004);
    return descriptions_;
  }

  template <typename Lap>
  void Step(const TrainingBatch& batch, Parts& parts, const Lap& lap) {
    Parameters& weights = state_.parameters;
    if (batch.is_sparse) {
      snps_that_count = static_cast<double>(batch.sparse.snps.size());
      entries = static_cast<double>(batch.sparse.entries.size());
      fat_.Forward(weights, batch.sparse, batch.people.size(), sums_);
    } else {
      snps_that_count = static_cast<double>(shape_.num_snps);
      fat_.Forward(weights, batch.dense, tables_, sums_);
    }
    lap(parts.forward);
    const auto fill_mask = [&](size_t layer, size_t, size_t, std::span<uint8_t> keep) {
      std::copy(batch.unit_masks[layer].begin(), batch.unit_masks[layer].end(), keep.begin());
    };
    main_.Forward(sums_, batch.targets(), options_.unit_dropout, fill_mask, state_);
    main_.Backward(state_, gradients_, sums_gradient_);
    lap(parts.main);
    if (batch.is_sparse) {
      fat_.Backward(weights, batch.sparse, sums_gradient_, gradients_);
    } else {
      fat_.Backward(weights, batch.dense, tables_, sums_gradient_, gradients_);
    }
    lap(parts.backward);
    ++step_;
    AdamStep(3e-5, step_, weights.AuxiliaryTables(), gradients_.AuxiliaryTables(),
             first_.AuxiliaryTables(), second_.AuxiliaryTables());
    AdamStep(3e-5, step_, weights.MainTables(), gradients_.MainTables(), first_.MainTables(),
             second_.MainTables());
    lap(parts.adam);
  }

  std::vector<float> descriptions_;
  NetworkShape shape_;
  FatLayer fat_;
  MainNetwork main_;
  TrainingPeople data_;
  std::vector<int64_t> people_;
  InputTables tables_;
  LoaderOptions options_;
  ModelState state_;
  Parameters first_, second_, gradients_;
  std::unique_ptr<TrainingRandom> random_;
  FloatTable sums_, sums_gradient_;
  int64_t step_ = 0;
};

template <typename Part>
double MedianMilliseconds(const std::vector<Parts>& steps, const Part& part) {
  std::vector<double> values;
  // The first step touches memory for the first time.
  for (size_t i = std::min<size_t>(1, steps.size() - 1); i < steps.size(); ++i) {
    values.push_back(1e3 * part(steps[i]));
  }
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, double otherwise) {
    return argc > i ? std::strtod(argv[i], nullptr) : otherwise;
  };
  const auto snps = static_cast<size_t>(argument(1, 169829));
  const auto people = static_cast<size_t>(argument(2, 4096));
  const auto batch = static_cast<size_t>(argument(3, 138));
  const double dropout = argument(4, 0.995);
  const auto num_steps = static_cast<size_t>(argument(5, 15));
  const auto threads = static_cast<size_t>(argument(6, 1));
  const auto target = ChooseCpuTarget();
  if (!target.ok()) {
    std::fprintf(stderr, "%s\n", target.error().Message().c_str());
    return 2;
  }
  const std::string path = argc > 7 ? argv[7] : "choose";
  time_is_cpu = threads == 1;
  tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
  Steps training(snps, people, batch, dropout,
                 path == "sparse"  ? BatchPath::kSparse
                 : path == "dense" ? BatchPath::kDense
                                   : BatchPath::kChoose,
                 *target);
  std::vector<Parts> steps;
  const double cpu = ProcessCpuSeconds();
  for (int64_t epoch = 1; steps.size() < num_steps; ++epoch) {
    if (!training.Epoch(epoch, num_steps, steps)) return 1;
  }
  const double cpu_a_step = (ProcessCpuSeconds() - cpu) / static_cast<double>(steps.size());
  const auto median = [&](auto part) { return MedianMilliseconds(steps, part); };
  const double forward = median([](const Parts& p) { return p.forward; });
  const double backward = median([](const Parts& p) { return p.backward; });
  const double step = median([](const Parts& p) { return p.Sum(); });
  std::printf("%zu SNPs, batches of %zu of %zu people, input dropout %g, %zu thread(s), %s\n", snps,
              batch, people, dropout, threads, std::string(CpuTargetName(*target)).c_str());
  std::printf("  %.0f SNPs count in a batch, %.0f entries\n", training.snps_that_count,
              training.entries);
  std::printf(
      "  ms a step (%s, median): prepare %.2f, fat forward %.2f, main %.2f, fat backward %.2f, "
      "Adam %.2f; all %.2f; mean CPU %.2f\n",
      time_is_cpu ? "CPU" : "wall", median([](const Parts& p) { return p.prepare; }), forward,
      median([](const Parts& p) { return p.main; }), backward,
      median([](const Parts& p) { return p.adam; }), step, 1e3 * cpu_a_step);
  // A multiply-add is two operations. Forward: both layers; backward: both layers' weights and the
  // second one's inputs.
  const double per_snp = 2 * (2 * (3.0 * kClasses * kWidth + kWidth * kWidth) + kWidth * kWidth);
  const double flop = per_snp * training.snps_that_count;
  const double rate = 1e-6 * flop / (forward + backward);
  std::printf("  auxiliary work %.2f GFLOP a step: %.1f GFLOP/s with everything in the fat layer\n",
              1e-9 * flop, rate);
  std::printf("  %.0f people/s; epoch of %.0f people: %.0f steps x %.2f ms = %.0f s\n",
              1e3 * static_cast<double>(batch) / step, kPublishedPeople,
              kPublishedPeople / static_cast<double>(batch), step,
              kPublishedPeople / static_cast<double>(batch) * step * 1e-3);
  std::printf("  peak memory %.0f MB, of which packed rows %.0f MB\n", PeakMegabytes(),
              training.rows_megabytes);
  if (const Sgemm sgemm = FindSgemm()) {
    const double best = SgemmRate(sgemm, 2048, 2048, 2048);
    std::printf(
        "  sgemm: %.1f GFLOP/s (2048 cubed), %.1f (20,000 x 100 x 100), %.1f (x 72); ratio to "
        "its best %.2f\n",
        best, SgemmRate(sgemm, 20000, kWidth, kWidth), SgemmRate(sgemm, 20000, kWidth, 72),
        rate / best);
  }
}

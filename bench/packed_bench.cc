// CPU time a person of the 2-bit products of an ensemble, beside OpenBLAS sgemm on ready floats
// where that library is found.
//
//   packed_bench [SNPs [columns [missing per mille [repetitions]]]]
//
// Thread CPU time of one thread, the least of the repetitions, which alternate between the two. For
// the instruction set that TALLELE_CPU_TARGET names or the fastest one; give OpenBLAS its best
// kernel with OPENBLAS_CORETYPE and OPENBLAS_NUM_THREADS=1.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/packed_products.h"

namespace {

using tallele::AlignedBuffer;
using tallele::PackedColumns;
using tallele::PackedRows;

constexpr size_t kPeople = 256;
constexpr size_t kColumnsPerGroup = 300;  // three models of 100 units share their inputs

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);

double ThreadCpuMilliseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

template <typename Work>
void KeepLeast(double& least, const Work& work) {
  const double start = ThreadCpuMilliseconds();
  work();
  least = std::min(least, ThreadCpuMilliseconds() - start);
}

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

struct Problem {
  size_t num_snps;
  size_t num_columns;
  AlignedBuffer storage;
  PackedRows rows;
  PackedColumns columns;

  Problem(size_t snps, size_t width, unsigned missing_per_mille)
      : num_snps(snps), num_columns(width), columns(snps, Groups(width)) {
    rows.num_rows = kPeople;
    rows.num_snps = snps;
    rows.stride = tallele::PackedRowStride(snps);
    storage.ResizeZeroed(kPeople * rows.stride);
    auto* data = reinterpret_cast<uint8_t*>(storage.data());
    rows.data = data;
    std::mt19937_64 random(1);
    for (size_t r = 0; r < kPeople; ++r) {
      for (size_t j = 0; j < snps; ++j) {
        const unsigned code = random() % 1000 < missing_per_mille ? 3 : random() % 3;
        data[r * rows.stride + j / 4] |= static_cast<uint8_t>(code << (2 * (j % 4)));
      }
    }
    std::vector<int32_t> q(width);
    for (size_t j = 0; j < snps; ++j) {
      for (int32_t& x : q) {
        x = static_cast<int32_t>(random() % (2 * tallele::kLargestPackedQ + 1)) -
            tallele::kLargestPackedQ;
      }
      for (size_t g = 0, first = 0; g < columns.num_groups(); first += columns.group_size(g++)) {
        columns.SetMean(j, g, 0.8f);
        columns.Set(j, g, 0, {q.data() + first, columns.group_size(g)});
      }
    }
    columns.Finish();
  }

  static std::vector<size_t> Groups(size_t width) {
    std::vector<size_t> groups;
    for (; width > 0; width -= groups.back()) groups.push_back(std::min(width, kColumnsPerGroup));
    return groups;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, unsigned long otherwise) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : otherwise;
  };
  const size_t snps = argument(1, 230000);
  const size_t width = argument(2, 1500);
  const auto missing = static_cast<unsigned>(argument(3, 5));
  const size_t repetitions = argument(4, 5);
  const auto target = tallele::ChooseCpuTarget();
  if (!target.ok()) {
    std::fprintf(stderr, "%s\n", target.error().Message().c_str());
    return 2;
  }
  const Problem problem(snps, width, missing);
  const Sgemm sgemm = FindSgemm();
  std::vector<float> x, weights, y;
  if (sgemm != nullptr) {
    x.assign(kPeople * snps, 1.0f);
    weights.assign(snps * width, 0.5f);
    y.resize(kPeople * width);
  }
  tallele::PackedScratch scratch;
  std::vector<int64_t> out(kPeople * width);
  double packed = 1e300, floats = 1e300;
  for (size_t r = 0; r < repetitions; ++r) {
    KeepLeast(packed, [&] {
      MultiplyPackedRows(*target, problem.rows, problem.columns, scratch, out.data());
    });
    if (sgemm == nullptr) continue;
    constexpr int kRowMajor = 101, kNoTranspose = 111;
    const int m = kPeople, n = static_cast<int>(width), k = static_cast<int>(snps);
    KeepLeast(floats, [&] {
      sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, x.data(), k, weights.data(), n, 0,
            y.data(), n);
    });
  }
  std::printf("%zu SNPs, %zu columns, %.1f %% missing, %zu people at once\n", snps, width,
              missing / 10.0, kPeople);
  std::printf("  %-12s %8.3f ms a person\n", std::string(CpuTargetName(*target)).c_str(),
              packed / kPeople);
  if (sgemm != nullptr) {
    std::printf("  %-12s %8.3f ms a person, ratio %.2f\n", "sgemm", floats / kPeople,
                floats / packed);
  }
}

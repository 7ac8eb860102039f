// CPU time of the kernels by themselves, for docs/performance.md and for CarrierBreakEven.
//
//   kernels_bench [repetitions]
//
// Thread CPU time, the least of the repetitions (the machines that measure are shared), for the
// instruction set that TALLELE_CPU_TARGET names or the fastest one. The carrier tables time
// listing and summing, and `dense` the same row's share of a block.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/exact_products.h"

namespace {

using tallele::AlignedBuffer;
using tallele::CpuTarget;
using tallele::PairRows;
using tallele::QuantisedColumns;

constexpr size_t kRows = 96;

double ThreadCpuMicroseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

template <typename Work>
double Least(int repetitions, const Work& work) {
  double least = 1e300;
  for (int r = 0; r < repetitions; ++r) {
    const double start = ThreadCpuMicroseconds();
    work();
    least = std::min(least, ThreadCpuMicroseconds() - start);
  }
  return least;
}

// Rows of people of whom a share carries something, the others at (0,0).
struct Block {
  AlignedBuffer storage;
  PairRows rows;

  Block(size_t num_rows, size_t num_people, double carriers) {
    rows.stride = tallele::PairRowStride(num_people);
    rows.num_rows = num_rows;
    rows.num_people = num_people;
    storage.ResizeZeroed(num_rows * rows.stride);
    uint8_t* data = reinterpret_cast<uint8_t*>(storage.data());
    rows.data = data;
    std::mt19937_64 random(num_people);
    std::uniform_real_distribution<double> uniform;
    for (size_t r = 0; r < num_rows; ++r) {
      for (size_t i = 0; i < num_people; ++i) {
        if (uniform(random) >= carriers) continue;
        const unsigned b0 = random() % 256;
        data[r * rows.stride + 2 * i] = static_cast<uint8_t>(b0);
        data[r * rows.stride + 2 * i + 1] = static_cast<uint8_t>(random() % (256 - b0));
      }
    }
  }
};

QuantisedColumns MakeColumns(CpuTarget target, size_t num_people, size_t num_columns) {
  std::mt19937_64 random(num_columns);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> columns(num_columns, std::vector<double>(num_people));
  std::vector<const double*> pointers;
  for (auto& column : columns) {
    for (double& x : column) x = normal(random);
    pointers.push_back(column.data());
  }
  return QuantisedColumns::Quantise(target, pointers, num_people);
}

double DenseCost(const PairRows& rows, const QuantisedColumns& columns, int repetitions) {
  tallele::ProductScratch scratch;
  std::vector<int64_t> out(rows.num_rows * columns.num_columns());
  return Least(repetitions, [&] { MultiplyPairRows(rows, columns, scratch, out.data()); }) /
         static_cast<double>(rows.num_rows);
}

// Lists the carriers of every row and sums over them.
double CarrierCost(const PairRows& rows, const QuantisedColumns& columns, int repetitions) {
  const size_t room = tallele::PaddedPeople(rows.num_people) + 32;
  std::vector<uint32_t> people(room);
  std::vector<uint16_t> pairs(room);
  std::vector<int64_t> out(columns.num_columns());
  return Least(repetitions,
               [&] {
                 for (size_t r = 0; r < rows.num_rows; ++r) {
                   const size_t count = ListCarriers(columns.target(), rows.row(r), rows.num_people,
                                                     0, people.data(), pairs.data());
                   MultiplyCarriers({people.data(), count}, {pairs.data(), count}, 0, columns,
                                    out.data());
                 }
               }) /
         static_cast<double>(rows.num_rows);
}

double MomentsCost(CpuTarget target, const PairRows& rows, int repetitions) {
  int64_t kept = 0;
  const double cost = Least(repetitions, [&] {
    for (size_t r = 0; r < rows.num_rows; ++r) {
      kept += ComputePairMoments(target, rows.row(r), rows.num_people).sum_t2;
    }
  });
  if (kept < 0) std::printf("(impossible)\n");  // keeps the sums from being left out
  return cost / static_cast<double>(rows.num_rows);
}

void BenchPeople(CpuTarget target, size_t num_people, int repetitions) {
  const Block common(kRows, num_people, 1.0);
  std::printf("%zu people: moments %.1f\n", num_people,
              MomentsCost(target, common.rows, repetitions));
  for (const size_t num_columns : {22, 41}) {
    const QuantisedColumns columns = MakeColumns(target, num_people, num_columns);
    std::printf("%zu people, %zu columns: dense %.1f, carriers", num_people, num_columns,
                DenseCost(common.rows, columns, repetitions));
    for (const double share : {0.001, 0.01, 0.02, 0.04, 0.06, 0.08, 0.12}) {
      const Block rare(8, num_people, share);
      std::printf("  %.1f%% %.1f", 100 * share, CarrierCost(rare.rows, columns, repetitions));
    }
    std::printf("; CarrierBreakEven %.2f%%\n",
                100.0 * static_cast<double>(CarrierBreakEven(target, num_people, num_columns)) /
                    static_cast<double>(num_people));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  const auto target = tallele::ChooseCpuTarget();
  if (!target.ok()) {
    std::fprintf(stderr, "%s\n", target.error().Message().c_str());
    return 2;
  }
  std::printf("%s, CPU microseconds per variant, least of %d\n",
              std::string(CpuTargetName(*target)).c_str(), repetitions);
  for (const size_t num_people : {50000, 200000}) BenchPeople(*target, num_people, repetitions);
  return 0;
}

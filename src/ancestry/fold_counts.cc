#include "ancestry/fold_counts.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/machine.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr size_t kWords = 64;  // 64-bit words of 32 SNPs that are added up together
constexpr uint64_t kLow = 0x5555555555555555, kTwo = 0x3333333333333333, kFour = 0x0f0f0f0f0f0f0f0f;

// Sums of genotype codes in fields that widen as they fill: 2 bits for 3 people, 4 bits for 15,
// bytes for 255. [code - 1][field][word].
struct Sums {
  uint64_t two[3][kWords];
  uint64_t four[3][2][kWords];
  uint64_t eight[3][4][kWords];
};

void AddRow(const uint8_t* row, size_t words, Sums& sums) {
  for (size_t w = 0; w < words; ++w) {
    uint64_t word = 0;
    std::memcpy(&word, row + 8 * w, 8);
    const uint64_t low = word & kLow, high = (word >> 1) & kLow, both = low & high;
    sums.two[0][w] += low ^ both;
    sums.two[1][w] += high ^ both;
    sums.two[2][w] += both;
  }
}

void WidenTwo(size_t words, Sums& sums) {
  for (size_t code = 0; code < 3; ++code) {
    for (size_t w = 0; w < words; ++w) {
      sums.four[code][0][w] += sums.two[code][w] & kTwo;
      sums.four[code][1][w] += (sums.two[code][w] >> 2) & kTwo;
      sums.two[code][w] = 0;
    }
  }
}

void WidenFour(size_t words, Sums& sums) {
  for (size_t code = 0; code < 3; ++code) {
    for (size_t odd = 0; odd < 2; ++odd) {
      for (size_t w = 0; w < words; ++w) {
        sums.eight[code][odd][w] += sums.four[code][odd][w] & kFour;
        sums.eight[code][2 + odd][w] += (sums.four[code][odd][w] >> 4) & kFour;
        sums.four[code][odd][w] = 0;
      }
    }
  }
}

// SNP 4b + 2h + odd of a word is byte b of eight[code][2h + odd].
void WidenEight(size_t words, size_t first_snp, Sums& sums,
                std::array<std::vector<uint32_t>, 3>& counts) {
  for (size_t code = 0; code < 3; ++code) {
    const size_t end = counts[code].size();
    for (size_t field = 0; field < 4; ++field) {
      for (size_t w = 0; w < words; ++w) {
        const uint64_t word = sums.eight[code][field][w];
        sums.eight[code][field][w] = 0;
        for (size_t b = 0; b < 8; ++b) {
          const size_t snp = first_snp + 32 * w + 4 * b + field;
          if (snp < end) counts[code][snp] += static_cast<uint32_t>(word >> (8 * b) & 0xff);
        }
      }
    }
  }
}

// Adds the words from `first_word` of some rows to the counts of their cell.
void AddRows(std::span<const uint8_t* const> rows, size_t first_word, size_t words,
             std::array<std::vector<uint32_t>, 3>& counts) {
  Sums sums{};
  for (size_t i = 0; i < rows.size(); ++i) {
    AddRow(rows[i] + 8 * first_word, words, sums);
    const bool last = i + 1 == rows.size();
    if (last || i % 3 == 2) WidenTwo(words, sums);
    if (last || i % 15 == 14) WidenFour(words, sums);
    if (last || i % 255 == 254) WidenEight(words, 32 * first_word, sums, counts);
  }
}

bool Counts(SampleSet set, size_t part) {
  switch (set) {
    case SampleSet::kTraining:
      return part == 0;
    case SampleSet::kTrainingAndValidation:
      return part <= 1;
    case SampleSet::kValidation:
      return part == 1;
    case SampleSet::kTest:
      return part == 2;
  }
  return false;
}

// The cell of each person, -1 for people whom no fold counts.
struct Cells {
  std::vector<int64_t> of_person;
  std::vector<std::pair<std::vector<bool>, int64_t>> keys;  // folds that count it; class
};

Cells MakeCells(const std::vector<Fold>& folds, std::span<const int64_t> classes, SampleSet set) {
  std::vector<std::vector<bool>> member(classes.size(), std::vector<bool>(folds.size()));
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < 3; ++part) {
      if (!Counts(set, part)) continue;
      for (const int64_t person : folds[f][part]) member[static_cast<size_t>(person)][f] = true;
    }
  }
  Cells cells;
  std::map<std::pair<std::vector<bool>, int64_t>, int64_t> index;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (std::find(member[i].begin(), member[i].end(), true) == member[i].end()) {
      cells.of_person.push_back(-1);
      continue;
    }
    const auto [at, added] =
        index.try_emplace({member[i], classes[i]}, static_cast<int64_t>(cells.keys.size()));
    if (added) cells.keys.push_back(at->first);
    cells.of_person.push_back(at->second);
  }
  return cells;
}

Error Interrupted() {
  Error error;
  error.kind = ErrorKind::kInterrupted;
  error.what = "counting genotypes was interrupted; nothing was written";
  return error;
}

using CellCounts = std::vector<std::array<std::vector<uint32_t>, 3>>;

// Adds a block of rows, whose first is person `first`, cell by cell on all threads.
void AddBlock(std::span<const uint8_t> rows, size_t first, size_t stride, const Cells& cells,
              CellCounts& counts) {
  std::vector<std::vector<const uint8_t*>> rows_of(cells.keys.size());
  for (size_t r = 0; r * stride < rows.size(); ++r) {
    const int64_t cell = cells.of_person[first + r];
    if (cell >= 0) rows_of[static_cast<size_t>(cell)].push_back(rows.data() + r * stride);
  }
  const size_t num_words = stride / 8;
  tbb::parallel_for(size_t{0}, (num_words + kWords - 1) / kWords, [&](size_t chunk) {
    const size_t begin = chunk * kWords, words = std::min(kWords, num_words - begin);
    for (size_t cell = 0; cell < rows_of.size(); ++cell) {
      if (!rows_of[cell].empty()) AddRows(rows_of[cell], begin, words, counts[cell]);
    }
  });
}

Result<void> CountCells(const GenotypeRows& rows, const Cells& cells,
                        const FoldCountRequest& request, EventSink& events,
                        const CancelToken& cancel, CellCounts& counts) {
  const size_t stride = PackedRowStride(rows.num_snps()), num_people = rows.num_people();
  const size_t step =
      std::clamp<size_t>(request.block_bytes / std::max<size_t>(1, stride), 1, num_people);
  std::vector<uint8_t> block(step * stride);
  const auto start = std::chrono::steady_clock::now();
  for (size_t first = 0; first < num_people; first += step) {
    if (cancel.cancelled()) return Interrupted();
    const size_t count = std::min(step, num_people - first);
    TALLELE_TRY(rows.Read(first, count, block));
    AddBlock(std::span(block).first(count * stride), first, stride, cells, counts);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    events.Progress({"people", static_cast<int64_t>(first + count),
                     static_cast<int64_t>(num_people), elapsed.count(),
                     first + count == num_people});
  }
  return {};
}

}  // namespace

Result<FoldCounts> FoldCounts::Count(const GenotypeRows& rows, const std::vector<Fold>& folds,
                                     std::span<const int64_t> classes,
                                     std::span<const std::string> class_names,
                                     const FoldCountRequest& request, EventSink& events,
                                     const CancelToken& cancel) {
  const Cells cells = MakeCells(folds, classes, request.set);
  FoldCounts result;
  result.num_snps_ = rows.num_snps();
  result.num_classes_ = class_names.size();
  result.class_sizes_.assign(folds.size(), std::vector<int64_t>(class_names.size()));
  result.cells_of_.assign(folds.size(), std::vector<std::vector<size_t>>(class_names.size()));
  std::vector<int64_t> cell_sizes(cells.keys.size());
  for (const int64_t cell : cells.of_person) {
    if (cell >= 0) ++cell_sizes[static_cast<size_t>(cell)];
  }
  for (size_t cell = 0; cell < cells.keys.size(); ++cell) {
    const auto cls = static_cast<size_t>(cells.keys[cell].second);
    for (size_t f = 0; f < folds.size(); ++f) {
      if (!cells.keys[cell].first[f]) continue;
      result.class_sizes_[f][cls] += cell_sizes[cell];
      result.cells_of_[f][cls].push_back(cell);
    }
  }
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t c = 0; c < class_names.size(); ++c) {
      if (result.class_sizes_[f][c] > 0) continue;
      return InputError(
          fmt::format("fold {} has nobody of class {} in the chosen lists", f, class_names[c]),
          request.partition, "Split with --balance-class, or leave the class out.");
    }
  }
  result.cell_counts_.resize(cells.keys.size());
  for (auto& counts : result.cell_counts_) {
    for (auto& list : counts) list.resize(result.num_snps_);
  }
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      request.num_threads > 0 ? request.num_threads : static_cast<size_t>(AvailableProcessors()));
  TALLELE_TRY(CountCells(rows, cells, request, events, cancel, result.cell_counts_));
  return result;
}

void FoldCounts::Add(size_t fold, size_t cls, int code, size_t first,
                     std::span<int64_t> counts) const {
  for (const size_t cell : cells_of_[fold][cls]) {
    const uint32_t* from = cell_counts_[cell][static_cast<size_t>(code - 1)].data() + first;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += from[i];
  }
}

}  // namespace tallele

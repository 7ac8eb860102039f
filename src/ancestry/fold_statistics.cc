#include <algorithm>
#include <cmath>
#include <limits>

#include "ancestry/fold_counts.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

constexpr size_t kSnpsPerPiece = 1024;
constexpr double kAddedDeviation = 1e-6;  // upstream adds it after the root

// Mean and deviation of `ones` people with one copy and `twos` with two among `called`. The sums
// are whole numbers, so the mean is rounded once.
void SetStatistics(int64_t called, int64_t ones, int64_t twos, double& mean, double& deviation) {
  const int64_t sum = ones + 2 * twos, squares = ones + 4 * twos;
  mean = static_cast<double>(sum) / static_cast<double>(called);
  const auto scaled = static_cast<__int128>(called) * squares - static_cast<__int128>(sum) * sum;
  const double variance =
      static_cast<double>(scaled) / static_cast<double>(called) / static_cast<double>(called - 1);
  deviation = std::sqrt(variance) + kAddedDeviation;
}

std::string_view Bytes(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

}  // namespace

InputStatistics ComputeInputStatistics(const FoldCounts& counts) {
  const size_t num_snps = counts.num_snps(), num_folds = counts.num_folds();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  InputStatistics statistics;
  statistics.means.assign(num_folds * num_snps, kNan);
  statistics.deviations.assign(num_folds * num_snps, kNan);
  std::vector<bool> degenerate(num_snps);
  for (size_t f = 0; f < num_folds; ++f) {
    std::vector<int64_t> of[3];
    int64_t people = 0;
    for (auto& list : of) list.assign(num_snps, 0);
    for (size_t c = 0; c < counts.num_classes(); ++c) {
      people += counts.class_size(f, c);
      for (int code = 1; code <= 3; ++code) {
        counts.Add(f, c, code, 0, of[static_cast<size_t>(code) - 1]);
      }
    }
    for (size_t j = 0; j < num_snps; ++j) {
      const int64_t called = people - of[2][j];
      double& mean = statistics.means[f * num_snps + j];
      double& deviation = statistics.deviations[f * num_snps + j];
      if (called > 1) {
        SetStatistics(called, of[0][j], of[1][j], mean, deviation);
      } else if (called == 1) {
        mean = static_cast<double>(of[0][j] + 2 * of[1][j]);
      }
      if (!(deviation > kAddedDeviation)) degenerate[j] = true;
    }
  }
  statistics.num_degenerate =
      static_cast<size_t>(std::count(degenerate.begin(), degenerate.end(), true));
  return statistics;
}

Result<void> WriteInputStatistics(const FoldCounts& counts, const InputStatistics& statistics,
                                  bool mean_only, const std::string& path) {
  const int64_t shape[] = {static_cast<int64_t>(counts.num_folds()),
                           static_cast<int64_t>(counts.num_snps())};
  TALLELE_ASSIGN(StoredZipWriter archive, StoredZipWriter::Create(path));
  TALLELE_TRY(
      archive.Add("means_by_fold.npy", WriteNpy(std::span<const double>(statistics.means), shape)));
  if (!mean_only) {
    TALLELE_TRY(archive.Add("sd_by_fold.npy",
                            WriteNpy(std::span<const double>(statistics.deviations), shape)));
  }
  return archive.Finish();
}

namespace {

// Rows first .. first+count-1 of a fold's embedding.
void FillEmbedding(const FoldCounts& counts, size_t fold, size_t first, size_t count,
                   std::vector<double>& out) {
  const size_t width = 3 * counts.num_classes();
  out.resize(count * width);
  std::vector<int64_t> of[3];
  for (size_t c = 0; c < counts.num_classes(); ++c) {
    const int64_t people = counts.class_size(fold, c);
    for (int code = 1; code <= 3; ++code) {
      of[code - 1].assign(count, 0);
      counts.Add(fold, c, code, first, of[code - 1]);
    }
    for (size_t i = 0; i < count; ++i) {
      const int64_t genotypes[3] = {people - of[0][i] - of[1][i] - of[2][i], of[0][i], of[1][i]};
      for (size_t g = 0; g < 3; ++g) {
        out[i * width + 3 * c + g] =
            static_cast<double>(genotypes[g]) / static_cast<double>(people);
      }
    }
  }
}

}  // namespace

std::vector<double> FoldEmbedding(const FoldCounts& counts, size_t fold) {
  std::vector<double> embedding;
  FillEmbedding(counts, fold, 0, counts.num_snps(), embedding);
  return embedding;
}

Result<void> WriteEmbedding(const FoldCounts& counts, const std::string& path) {
  const int64_t shape[] = {static_cast<int64_t>(counts.num_folds()),
                           static_cast<int64_t>(counts.num_snps()),
                           static_cast<int64_t>(3 * counts.num_classes())};
  TALLELE_ASSIGN(StoredZipWriter archive, StoredZipWriter::Create(path));
  const auto produce = [&](const StoredZipWriter::PieceSink& sink) -> Result<void> {
    TALLELE_TRY(sink(WriteNpyHeader("<f8", shape)));
    std::vector<double> piece;
    for (size_t f = 0; f < counts.num_folds(); ++f) {
      for (size_t first = 0; first < counts.num_snps(); first += kSnpsPerPiece) {
        FillEmbedding(counts, f, first, std::min(kSnpsPerPiece, counts.num_snps() - first), piece);
        TALLELE_TRY(sink(Bytes(piece)));
      }
    }
    return {};
  };
  TALLELE_TRY(archive.AddInPieces("emb.npy", produce));
  return archive.Finish();
}

}  // namespace tallele

#include "assoc/dry_run.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "assoc/scan_blocks.h"
#include "assoc/scan_plan.h"
#include "base/machine.h"

namespace tallele {
namespace {

constexpr size_t kSampledChromosomes = 4;
constexpr size_t kSampledBlocks = 2;  // of each, after one that is not timed
constexpr double kMostSeconds = 10;
// Bytes of one row as measured on simulated cohorts: Parquet after compression, text as it is.
constexpr double kParquetBytes = 60;
constexpr double kFloat32ParquetBytes = 34;
constexpr double kTextBytes = 95;
constexpr double kGzipShare = 0.4;
constexpr size_t kPendingRows = 32'768;  // that a trait holds back for a row group

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Times blocks of a plan on the calling thread.
class BlockSampler {
 public:
  explicit BlockSampler(const PlannedScan& plan)
      : plan_(plan),
        fitter_(plan.fitter->Clone()),
        corrector_(plan.request.binary, plan.basis, plan.target),
        tester_(plan.settings, plan.source->variants(), corrector_, scratch_),
        rows_(plan.cohort.traits.size()) {}

  // Fits the chromosome's null models and tests some of its blocks.
  Result<void> Sample(const ChromosomeRun& run, int code) {
    const auto begin = Clock::now();
    FitReport report;
    TALLELE_ASSIGN(const auto state, fitter_.Fit(plan_.traits, code, run.label, report));
    fit_seconds_ += SecondsSince(begin);
    ++num_fits_;
    TALLELE_ASSIGN(const auto cursor,
                   plan_.source->OpenCursor(plan_.axis.selection, CarrierPolicy{}, plan_.target));
    const std::vector<VariantRange> parts = {run.range};
    ScanBlockWalker walker(plan_.source->variants(), parts, plan_.selection.selected,
                           plan_.block_width);
    ScanBlock block;
    for (size_t done = 0; done <= kSampledBlocks && walker.Next(&block); ++done) {
      if (block.range.count == 0) continue;
      TALLELE_TRY(Time(*cursor, block.range, *state, done > 0));
    }
    return {};
  }

  double SecondsPerVariant() const {
    return num_variants_ == 0 ? 0 : test_seconds_ / static_cast<double>(num_variants_);
  }
  double SecondsPerFit() const {
    return num_fits_ == 0 ? 0 : fit_seconds_ / static_cast<double>(num_fits_);
  }
  double RowsPerVariant() const {
    return num_variants_ == 0 ? static_cast<double>(plan_.traits.size())
                              : static_cast<double>(num_rows_) / static_cast<double>(num_variants_);
  }
  size_t num_variants() const { return num_variants_; }

 private:
  Result<void> Time(GenotypeCursor& cursor, VariantRange range, const ChromosomeState& state,
                    bool counts) {
    for (TraitRows& rows : rows_) rows.Clear();
    SkippedVariants skipped;
    const auto begin = Clock::now();
    TALLELE_TRY(cursor.Read(range));
    TALLELE_TRY(cursor.Decode(block_));
    tester_.Test(block_, state, rows_, skipped);
    // A chromosome of one block has no other than the first to go by.
    if (!counts && num_variants_ > 0) return {};
    if (counts && only_first_) {
      test_seconds_ = 0;
      num_variants_ = num_rows_ = 0;
      only_first_ = false;
    }
    only_first_ = only_first_ || !counts;
    test_seconds_ += SecondsSince(begin);
    num_variants_ += range.count;
    for (const TraitRows& rows : rows_) num_rows_ += rows.table.rows.size();
    return {};
  }

  const PlannedScan& plan_;
  NullModelFitter fitter_;
  BinaryCorrector corrector_;
  tbb::enumerable_thread_specific<CorrectionScratch> scratch_;
  BlockTester tester_;
  VariantBlock block_;
  std::vector<TraitRows> rows_;
  double fit_seconds_ = 0;
  double test_seconds_ = 0;
  size_t num_fits_ = 0;
  size_t num_variants_ = 0;
  size_t num_rows_ = 0;
  bool only_first_ = false;
};

double BytesPerRow(const PlannedScan& plan) {
  double bytes = 0;
  if (plan.output.parquet) {
    bytes += plan.request.float32_statistics ? kFloat32ParquetBytes : kParquetBytes;
  }
  if (plan.output.regenie_text) bytes += kTextBytes * (plan.output.gzip ? kGzipShare : 1);
  return bytes;
}

// Blocks in flight, and the rows that each trait holds back.
uint64_t ExpectedMemory(const PlannedScan& plan) {
  const uint64_t threads = static_cast<uint64_t>(plan.threads);
  const uint64_t people = plan.axis.num_block_people();
  const uint64_t blocks = 3 * (threads + 1) * plan.block_width * people;
  const uint64_t columns = (plan.basis.rank() + plan.traits.size()) * people * 16;
  const uint64_t rows = plan.traits.size() * kPendingRows * sizeof(ResultRow);
  return PeakMemory() + blocks + columns + rows;
}

// The runs that have chosen variants, with their codes.
std::vector<std::pair<const ChromosomeRun*, int>> ChosenRuns(const PlannedScan& plan) {
  std::vector<std::pair<const ChromosomeRun*, int>> runs;
  for (const ChromosomeRun& run : plan.source->variants().runs()) {
    const auto code = ChromosomeCode(run.label, plan.request.num_autosomes);
    if (code && plan.HasSelected(run.range)) runs.emplace_back(&run, *code);
  }
  return runs;
}

Result<ScanForecast> Forecast(const PlannedScan& plan) {
  const auto runs = ChosenRuns(plan);
  BlockSampler sampler(plan);
  const auto begin = Clock::now();
  const size_t samples = std::min(runs.size(), kSampledChromosomes);
  for (size_t i = 0; i < samples && SecondsSince(begin) < kMostSeconds; ++i) {
    const auto& [run, code] = runs[i * runs.size() / samples];
    TALLELE_TRY(sampler.Sample(*run, code));
  }
  ScanForecast forecast;
  forecast.sampled_variants = sampler.num_variants();
  forecast.seconds_per_variant = sampler.SecondsPerVariant();
  forecast.memory_bytes = ExpectedMemory(plan);
  for (const auto& [run, code] : runs) {
    ScanForecast::Chromosome chromosome;
    chromosome.label = run->label;
    chromosome.num_variants = plan.CountSelected(run->range);
    const auto variants = static_cast<double>(chromosome.num_variants);
    chromosome.seconds =
        sampler.SecondsPerFit() + variants * sampler.SecondsPerVariant() / plan.threads;
    chromosome.output_bytes =
        static_cast<uint64_t>(variants * sampler.RowsPerVariant() * BytesPerRow(plan));
    forecast.seconds += chromosome.seconds;
    forecast.output_bytes += chromosome.output_bytes;
    forecast.chromosomes.push_back(std::move(chromosome));
  }
  return forecast;
}

}  // namespace

Result<ScanForecast> ForecastScan(const ScanPlan& plan) {
  try {
    return Forecast(static_cast<const PlannedScan&>(plan));
  } catch (const std::exception& exception) {
    return InternalError(std::string("the forecast stopped: ") + exception.what());
  }
}

}  // namespace tallele

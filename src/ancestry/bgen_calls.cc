#include "ancestry/bgen_calls.h"

#include <algorithm>
#include <chrono>

#include "genotype/bed/bed_decode.h"
#include "genotype/bgen/bgen_source.h"
#include "kernels/cpu_target.h"

namespace tallele {
namespace {

constexpr size_t kVariantsPerRead = 32;

// Probability times D^2 of two copies of the first allele and of one.
struct Weights {
  double two = 0;
  double one = 0;
};

Weights WeightsOf(const DecodedVariant& variant, StoredPair pair, bool haploid) {
  const double d = variant.denominator, a0 = pair.a0, a1 = pair.a1;
  if (haploid) return {a0 * d, 0};
  if (variant.kind == CallKind::kUnphased) return {a0 * d, a1 * d};
  return {a0 * a1, a0 * (d - a1) + a1 * (d - a0)};
}

uint8_t CallOf(Weights w, double whole, double min_probability) {
  const double limit = min_probability * whole;
  if (w.two >= limit) return bed::kHomFirst;
  if (w.one >= limit) return bed::kHet;
  if (whole - w.two - w.one >= limit) return bed::kHomSecond;
  return bed::kMissing;
}

// PLINK 1 codes of one variant of a block.
void EncodeVariant(const VariantBlock& block, const DecodedVariant& variant, double min_probability,
                   std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  const double whole = static_cast<double>(variant.denominator) * variant.denominator;
  size_t next_missing = 0, next_haploid = 0;
  for (uint32_t p = 0; p < block.num_people(); ++p) {
    uint8_t code = bed::kMissing;
    const bool haploid =
        next_haploid < variant.haploid.size() && variant.haploid[next_haploid] == p;
    next_haploid += haploid;
    if (next_missing < variant.missing.size() && variant.missing[next_missing] == p) {
      ++next_missing;
    } else if (variant.state == VariantState::kUsable) {
      code = CallOf(WeightsOf(variant, PairOf(block, variant, p), haploid), whole, min_probability);
    }
    out[p / 4] |= std::byte{static_cast<uint8_t>(code << (2 * (p % 4)))};
  }
}

Result<void> AppendRange(GenotypeCursor& cursor, VariantRange range, double min_probability,
                         WritableFile& file) {
  VariantBlock block;
  TALLELE_TRY(cursor.Read(range));
  TALLELE_TRY(cursor.Decode(block));
  std::vector<std::byte> codes(bed::BytesPerVariant(block.num_people()));
  for (size_t i = 0; i < block.num_variants(); ++i) {
    EncodeVariant(block, block.variant(i), min_probability, codes);
    TALLELE_TRY(file.Append(codes));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<GenotypeSource>> OpenBgenForCalls(const std::string& path,
                                                         EventSink* events) {
  return OpenBgen(path, {.bgi = {}, .events = events});
}

Result<std::unique_ptr<ReadableFile>> WriteBgenCalls(const GenotypeSource& source,
                                                     double min_probability,
                                                     const std::string& scratch, EventSink& events,
                                                     const CancelToken& cancel) {
  if (!(min_probability > 0.5 && min_probability <= 1)) {
    return UsageError("--min-call-probability must lie above 0.5 and up to 1");
  }
  FileEnv& env = PosixFileEnv();
  TALLELE_ASSIGN(const CpuTarget target, ChooseCpuTarget());
  SampleSelection everyone;
  everyone.num_file_samples = source.num_samples();
  TALLELE_ASSIGN(const auto cursor, source.OpenCursor(everyone, {}, target));
  TALLELE_ASSIGN(auto file, env.OpenToWrite(scratch));
  // Opened before it is full and removed at once, so that nothing stays behind whatever happens.
  TALLELE_ASSIGN(auto reader, env.OpenToRead(scratch));
  TALLELE_TRY(env.Remove(scratch));
  const auto start = std::chrono::steady_clock::now();
  const auto total = static_cast<int64_t>(source.variants().size());
  for (const ChromosomeRun& run : source.variants().runs()) {
    for (size_t done = 0; done < run.range.count; done += kVariantsPerRead) {
      if (cancel.cancelled()) {
        Error error;
        error.kind = ErrorKind::kInterrupted;
        error.what = "reading the cohort was interrupted; nothing was written";
        return error;
      }
      const VariantRange range{run.range.first + done,
                               std::min(kVariantsPerRead, run.range.count - done)};
      TALLELE_TRY(AppendRange(*cursor, range, min_probability, *file));
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      const auto now = static_cast<int64_t>(range.first + range.count);
      events.Progress({"variants", now, total, elapsed.count(), now == total});
    }
  }
  TALLELE_TRY(file->Close());
  return reader;
}

}  // namespace tallele

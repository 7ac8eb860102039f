#include "ancestry/call_columns.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "ancestry/bgen_calls.h"
#include "base/machine.h"
#include "cohort/sample_file.h"
#include "genotype/bed/bed_decode.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bed/plink_tables.h"
#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr uint64_t kBedHeaderBytes = 3;
constexpr size_t kSampleHeaderLines = 2;  // of an Oxford sample file: names and types

Result<void> RefuseDuplicates(const CallSourceRequest& request,
                              const std::vector<SampleIdentity>& people,
                              const PeopleOrigin& origin) {
  if (request.allow_duplicate_people) return {};
  return CheckUniquePeople(people, PersonNames::kFamilyAndIndividual, origin,
                           "Give everybody an identifier of their own.");
}

Error Interrupted() {
  Error error;
  error.kind = ErrorKind::kInterrupted;
  error.what = "reading the cohort was interrupted; nothing was written";
  return error;
}

// Keeps the first error of many workers.
class FirstError {
 public:
  void Set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  Result<void> Get() {
    const std::lock_guard lock(mutex_);
    return error_ ? Result<void>(*error_) : Result<void>();
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

// One block of people on its way into rows.
struct Block {
  size_t first = 0;
  size_t count = 0;
  size_t stride = 0;
  std::span<uint8_t> rows;
};

// Columns 256*tile .. of a block.
Result<void> FillTile(const CallColumns& calls, std::span<const CallColumn> columns, size_t tile,
                      const Block& block, std::vector<CodeCounts>* counts) {
  const size_t begin = tile * kVariantsPerStripTile;
  const size_t end = std::min(columns.size(), begin + kVariantsPerStripTile);
  const size_t strip_bytes = (block.count + 3) / 4;
  std::vector<uint8_t> strips(strip_bytes * (end - begin));
  for (size_t j = begin; j < end; ++j) {
    const auto strip = std::span(strips).subspan((j - begin) * strip_bytes, strip_bytes);
    TALLELE_TRY(calls.ReadStrip(columns[j].variant, block.first, strip));
    TranslateStrip(columns[j].use, strip);
    if (counts == nullptr) continue;
    const CodeCounts add = CountCodes(strip, block.count);
    for (size_t code = 0; code < 4; ++code) (*counts)[j].of[code] += add.of[code];
  }
  TransposeStrips(strips.data(), strip_bytes, end - begin, block.count,
                  block.rows.data() + tile * 64, block.stride);
  return {};
}

}  // namespace

Result<CallColumns> CallColumns::Open(const CallSourceRequest& request, EventSink& events,
                                      const CancelToken& cancel) {
  CallColumns calls;
  if (request.plink.empty() == request.bgen.empty()) {
    return UsageError("the cohort's genotypes are not known", "Give either --plink or --bgen.");
  }
  if (!request.plink.empty()) {
    TALLELE_ASSIGN(calls.source_, OpenBed(request.plink, &events));
    calls.people_ = calls.source_->samples();
    const std::string& bed = calls.source_->path();
    TALLELE_ASSIGN(std::string fam, bed::FindCompanion(bed.substr(0, bed.size() - 4), ".fam"));
    calls.people_origin_ = {std::move(fam), true, 0};
    TALLELE_TRY(RefuseDuplicates(request, calls.people_, calls.people_origin_));
    TALLELE_ASSIGN(calls.file_, PosixFileEnv().OpenToRead(calls.source_->path()));
    calls.data_offset_ = kBedHeaderBytes;
    return calls;
  }
  TALLELE_ASSIGN(calls.source_, OpenBgenForCalls(request.bgen, &events));
  TALLELE_ASSIGN(calls.people_, ResolveSamples(*calls.source_, request.sample));
  calls.people_origin_ = request.sample.empty()
                             ? PeopleOrigin{request.bgen, false, 0}
                             : PeopleOrigin{request.sample, true, kSampleHeaderLines};
  TALLELE_TRY(RefuseDuplicates(request, calls.people_, calls.people_origin_));
  TALLELE_ASSIGN(calls.file_, WriteBgenCalls(*calls.source_, request.min_call_probability,
                                             request.scratch, events, cancel));
  return calls;
}

Result<void> CallColumns::ReadStrip(size_t variant, size_t first, std::span<uint8_t> strip) const {
  const uint64_t bytes = bed::BytesPerVariant(num_people());
  const uint64_t offset = data_offset_ + variant * bytes + first / 4;
  if (first / 4 >= bytes) return InternalError("people outside the cohort were asked for");
  return file_->ReadAt(offset, std::as_writable_bytes(
                                   strip.first(std::min<size_t>(strip.size(), bytes - first / 4))));
}

Result<CodeCounts> CallColumns::CountVariant(size_t variant, StripUse use) const {
  std::vector<uint8_t> strip(bed::BytesPerVariant(num_people()));
  TALLELE_TRY(ReadStrip(variant, 0, strip));
  TranslateStrip(use, strip);
  return CountCodes(strip, num_people());
}

Result<void> StreamRows(const CallColumns& calls, std::span<const CallColumn> columns,
                        const StreamRowsOptions& options, EventSink& events,
                        const CancelToken& cancel, std::vector<CodeCounts>* counts,
                        const RowBlockSink& sink) {
  const size_t threads =
      options.num_threads > 0 ? options.num_threads : static_cast<size_t>(AvailableProcessors());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const size_t stride = PackedRowStride(columns.size()), num_people = calls.num_people();
  // A multiple of 512 people, so that strips begin at whole bytes.
  const size_t step =
      std::max<size_t>(512, options.block_bytes / std::max<size_t>(1, stride) / 512 * 512);
  std::vector<uint8_t> rows(std::min(step, num_people) * stride);
  if (counts != nullptr) counts->assign(columns.size(), {});
  const size_t num_tiles = stride / 64;
  const auto start = std::chrono::steady_clock::now();
  for (size_t first = 0; first < num_people; first += step) {
    const size_t count = std::min(step, num_people - first);
    const Block block{first, count, stride, std::span(rows).first(count * stride)};
    FirstError failure;
    tbb::parallel_for(size_t{0}, num_tiles, [&](size_t tile) {
      if (cancel.cancelled()) return failure.Set(Interrupted());
      const auto filled = FillTile(calls, columns, tile, block, counts);
      if (!filled.ok()) failure.Set(filled.error());
    });
    TALLELE_TRY(failure.Get());
    TALLELE_TRY(sink(first, count, block.rows));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    events.Progress({"people", static_cast<int64_t>(first + count),
                     static_cast<int64_t>(num_people), elapsed.count(),
                     first + count == num_people});
  }
  return calls.source().CheckUnchanged();
}

}  // namespace tallele

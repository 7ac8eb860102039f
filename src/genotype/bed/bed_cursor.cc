#include "genotype/bed/bed_cursor.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "genotype/bed/bed_decode.h"
#include "kernels/pair_rows.h"

namespace tallele::bed {
namespace {

constexpr uint64_t kHeaderBytes = 3;
constexpr uint16_t kPairNone = 0x0000;      // (0,0)
constexpr uint16_t kPairTwoFirst = 0x0001;  // (1,0)

// From the sums of a row of 0/1 pairs: b0 marks two copies, b1 marks one.
VariantMoments HardCallMoments(const PairMoments& row, size_t num_people, size_t num_missing) {
  VariantMoments moments;
  moments.num_called = static_cast<int64_t>(num_people - num_missing);
  moments.sum_t = row.sum_t;
  moments.sum_t2 = row.sum_t2;
  return moments;  // a hard call has no variance
}

}  // namespace

BedCursor::BedCursor(const ReadableFile& file, const VariantIndex& variants,
                     SampleSelection selection, CarrierPolicy carriers, CpuTarget target)
    : file_(file),
      variants_(variants),
      selection_(std::move(selection)),
      carriers_(carriers),
      target_(target),
      bytes_per_variant_(BytesPerVariant(selection_.num_file_samples)) {}

Result<void> BedCursor::Read(VariantRange range) try {
  if (range.first > variants_.size() || range.count > variants_.size() - range.first) {
    return InternalError("a range of variants reaches past the end of the .bim file");
  }
  range_ = {};
  codes_.Resize(range.count * bytes_per_variant_);
  const uint64_t offset = kHeaderBytes + uint64_t{range.first} * bytes_per_variant_;
  TALLELE_TRY(file_.ReadAt(offset, std::span(codes_.data(), codes_.size())));
  range_ = range;
  return {};
} catch (const std::bad_alloc&) {
  return IoError("not enough memory for a block of genotypes", file_.path(), ENOMEM);
}

Result<void> BedCursor::Decode(VariantBlock& block) try {
  block.Reset(range_, selection_.num_samples());
  for (size_t i = 0; i < range_.count; ++i) DecodeVariant(i, block);
  return {};
} catch (const std::bad_alloc&) {
  return IoError("not enough memory for a block of genotypes", file_.path(), ENOMEM);
}

void BedCursor::DecodeVariant(size_t i, VariantBlock& block) {
  const size_t num_people = selection_.num_samples();
  const auto* bytes = reinterpret_cast<const uint8_t*>(codes_.data()) + i * bytes_per_variant_;
  const std::span codes(bytes, bytes_per_variant_);
  uint8_t* row = block.ScratchRow();
  missing_.clear();
  if (selection_.file_positions) {
    ExpandSelectedCodes(codes, *selection_.file_positions, row, missing_);
  } else {
    ExpandCodes(codes, num_people, row, missing_);
  }
  DecodedVariant variant;
  variant.denominator = 1;
  variant.missing = block.StoreIndices(missing_);
  const PairMoments sums = ComputePairMoments(target_, row, num_people);
  variant.moments = HardCallMoments(sums, num_people, missing_.size());
  // sum_b counts people with at least one copy, sum_t - sum_b those with two.
  const auto with_first = static_cast<size_t>(sums.sum_b);
  const size_t not_two_first = num_people - static_cast<size_t>(sums.sum_t - sums.sum_b);
  if (std::min(with_first, not_two_first) <= carriers_.max_carriers && carriers_.max_carriers > 0) {
    StoreSparse(row, with_first <= not_two_first ? kPairNone : kPairTwoFirst, block, variant);
  } else {
    variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
    block.KeepRows(1, PairBound::kSumUpTo255);
  }
  block.mutable_variants().push_back(variant);
}

void BedCursor::StoreSparse(const uint8_t* row, uint16_t baseline, VariantBlock& block,
                            DecodedVariant& variant) {
  const size_t num_people = selection_.num_samples();
  carrier_people_.resize(PaddedPeople(num_people) + 32);
  carrier_pairs_.resize(PaddedPeople(num_people) + 32);
  const size_t count = ListCarriers(target_, row, num_people, baseline, carrier_people_.data(),
                                    carrier_pairs_.data());
  variant.is_sparse = true;
  variant.baseline = baseline;
  variant.carriers = block.StoreIndices(std::span(carrier_people_).first(count));
  variant.carrier_pairs = block.StorePairs(std::span(carrier_pairs_).first(count));
}

}  // namespace tallele::bed

#include "genotype/bgen/bgen_decode.h"

#include <algorithm>
#include <cstring>

#include "genotype/bgen/bgen_error.h"

namespace tallele::bgen {
namespace {

constexpr uint32_t kNotSelected = 0xffffffff;
constexpr uint32_t kLayout1Denominator = 32768;

// Room after a payload: a padded row of pairs, and what ReadPairs may touch.
constexpr size_t kPayloadPadding = 2 * kPeoplePerPad + kValuePadding;

std::string SampleNumber(size_t sample) { return "sample " + std::to_string(sample + 1); }

bool PaddingIsZero(const uint8_t* data, uint64_t num_bits) {
  const uint64_t used = num_bits & 7;
  return used == 0 || data[num_bits >> 3] >> used == 0;
}

Error SumTooLarge(size_t sample, uint64_t sum, uint64_t denominator) {
  return DamagedRecord("the probabilities of " + SampleNumber(sample) + " add up to more than 1",
                       std::to_string(sum), "at most " + std::to_string(denominator));
}

Error GapWithNumbers(size_t sample) {
  return DamagedRecord("the missing call of " + SampleNumber(sample) +
                       " has probabilities other than 0");
}

// The first sample whose pair breaks a rule, once some pair is known to.
Error FirstBadPair(const StoredCalls& calls, std::span<const StoredPair> pairs) {
  const uint64_t denominator = (uint64_t{1} << calls.bits) - 1;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const uint64_t sum = uint64_t{pairs[i].a0} + pairs[i].a1;
    if ((calls.ploidies[i] & kMissingFlag) != 0 && sum != 0) return GapWithNumbers(i);
    if (!calls.phased && sum > denominator) return SumTooLarge(i, sum, denominator);
  }
  return InternalError("a damaged BGEN record has no damaged sample");
}

}  // namespace

Decoder::Decoder(const Header& header, SampleSelection selection, CarrierPolicy carriers,
                 CpuTarget target)
    : header_(header), selection_(std::move(selection)), carriers_(carriers), target_(target) {
  if (!selection_.file_positions) return;
  block_position_.assign(header.num_samples, kNotSelected);
  uint32_t position = 0;
  for (const uint32_t sample : *selection_.file_positions) block_position_[sample] = position++;
}

Result<void> CheckInflatedSize(const Header& header, uint64_t stored, uint64_t inflated) {
  const uint64_t smallest =
      header.layout == 1 ? uint64_t{6} * header.num_samples : Layout2Prefix(header.num_samples);
  // No stream of this length inflates to more: DEFLATE at most 1032 to 1, Zstandard one 128 KiB
  // block from 4 bytes. So memory is bounded by the file's size whatever the header claims.
  const uint64_t ratio = header.compression == Compression::kZlib   ? 1032
                         : header.compression == Compression::kZstd ? 32768
                                                                    : 1;
  const uint64_t largest = ratio * stored + (ratio > 1 ? 1024 : 0);
  if (inflated >= smallest && inflated <= largest) return {};
  return DamagedRecord("the declared length of the genotypes is impossible",
                       std::to_string(inflated),
                       std::to_string(smallest) + " to " + std::to_string(largest));
}

Result<void> Decoder::Decode(std::span<const uint8_t> stored, uint32_t inflated_size,
                             uint32_t num_alleles, VariantBlock& block) {
  if (num_alleles != 2) {
    KeepState(VariantState::kNotBiallelic, block);
    return {};
  }
  TALLELE_TRY(CheckInflatedSize(header_, stored.size(), inflated_size));
  uint8_t* payload = PlaceFor(inflated_size, block);
  TALLELE_TRY(inflater_.Inflate(header_.compression, stored, std::span(payload, inflated_size)));
  std::memset(payload + inflated_size, 0, kPayloadPadding);
  payload_ = std::span<const uint8_t>(payload, inflated_size);
  return header_.layout == 1 ? DecodeLayout1(block) : DecodeLayout2(block);
}

// Where a payload is inflated to. One that is as long as that of 8-bit diploid calls of everyone in
// the block goes where its probabilities are the next row.
uint8_t* Decoder::PlaceFor(size_t inflated_size, VariantBlock& block) {
  const size_t prefix = Layout2Prefix(header_.num_samples);
  in_place_ = header_.layout == 2 && !selection_.file_positions &&
              inflated_size == prefix + 2 * size_t{header_.num_samples};
  if (in_place_) return block.ScratchRow() - prefix;
  buffer_.resize(inflated_size + kPayloadPadding);
  return buffer_.data();
}

void Decoder::KeepState(VariantState state, VariantBlock& block) {
  DecodedVariant variant;
  variant.state = state;
  block.mutable_variants().push_back(variant);
}

// Holds a one-plane unphased variant as carriers when few people differ from one of the two
// homozygous pairs.
void Decoder::KeepSparseOrDense(DecodedVariant variant, uint8_t* row, VariantBlock& block) {
  const size_t n = block.num_people();
  const __int128 two = 2 * __int128{variant.denominator};
  const __int128 called = variant.moments.num_called;
  // Everyone who differs from a homozygous pair moves the sum by at most 2D.
  const bool few_first =
      variant.moments.sum_t <= two * static_cast<__int128>(carriers_.max_carriers);
  const bool few_second =
      two * called - variant.moments.sum_t <= two * static_cast<__int128>(carriers_.max_carriers);
  if (carriers_.max_carriers > 0 && (few_first || few_second)) {
    const uint16_t baseline = few_first ? uint16_t{0} : static_cast<uint16_t>(variant.denominator);
    if (CountCarriers(target_, row, n, baseline) <= carriers_.max_carriers) {
      carrier_people_.resize(PaddedPeople(n) + kPeoplePerPad);
      carrier_pairs_.resize(PaddedPeople(n) + kPeoplePerPad);
      const size_t count =
          ListCarriers(target_, row, n, baseline, carrier_people_.data(), carrier_pairs_.data());
      variant.is_sparse = true;
      variant.baseline = baseline;
      variant.carriers = block.StoreIndices(std::span(carrier_people_.data(), count));
      variant.carrier_pairs = block.StorePairs(std::span(carrier_pairs_.data(), count));
      block.mutable_variants().push_back(variant);
      return;
    }
  }
  variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
  block.KeepRows(1, PairBound::kSumUpTo255);
  block.mutable_variants().push_back(variant);
}

Result<StoredCalls> Decoder::ReadShape() const {
  const size_t n = header_.num_samples;
  const uint8_t* p = payload_.data();
  if (LoadU32(p) != n) {
    return DamagedRecord("the genotypes are of another number of samples",
                         std::to_string(LoadU32(p)), std::to_string(n));
  }
  if (LoadU16(p + 4) != 2) {
    return DamagedRecord("the genotypes are of another number of alleles",
                         std::to_string(LoadU16(p + 4)), "2");
  }
  StoredCalls calls;
  calls.num_samples = n;
  calls.smallest_ploidy = p[6];
  calls.largest_ploidy = p[7];
  calls.ploidies = p + 8;
  calls.bits = p[9 + n];
  calls.values = p + Layout2Prefix(n);
  calls.value_bytes = payload_.size() - Layout2Prefix(n);
  calls.phased = p[8 + n] == 1;
  if (p[8 + n] > 1) {
    return DamagedRecord("the phase flag is impossible", std::to_string(p[8 + n]), "0 or 1");
  }
  if (calls.bits < 1 || calls.bits > 32) {
    return DamagedRecord("the number of bits is impossible", std::to_string(calls.bits), "1 to 32");
  }
  if (calls.smallest_ploidy > calls.largest_ploidy || calls.largest_ploidy > kPloidyMask) {
    return DamagedRecord(
        "the ploidy range is impossible",
        std::to_string(calls.smallest_ploidy) + " to " + std::to_string(calls.largest_ploidy));
  }
  return calls;
}

// Checks every ploidy byte against the declared range, and the length of the values.
Result<PloidySummary> Decoder::CheckPloidies(const StoredCalls& calls) const {
  const size_t n = calls.num_samples;
  // The usual case at the speed of memcmp: each byte is like the one before it.
  const bool all_two = n > 0 && calls.ploidies[0] == 2 &&
                       std::memcmp(calls.ploidies, calls.ploidies + 1, n - 1) == 0;
  const PloidySummary summary =
      all_two ? PloidySummary{2, 2, 2, 2 * uint64_t{n}} : SummarizePloidies(calls.ploidies, n);
  const bool in_range = n == 0 || (summary.smallest >= calls.smallest_ploidy &&
                                   summary.largest <= calls.largest_ploidy);
  if ((summary.any_bits & kReservedPloidyBit) != 0 || !in_range) {
    for (size_t i = 0; i < n; ++i) {
      const uint8_t byte = calls.ploidies[i];
      const int ploidy = byte & kPloidyMask;
      if ((byte & kReservedPloidyBit) == 0 && ploidy >= calls.smallest_ploidy &&
          ploidy <= calls.largest_ploidy) {
        continue;
      }
      return DamagedRecord("the ploidy of " + SampleNumber(i) + " is impossible",
                           std::to_string(byte),
                           std::to_string(calls.smallest_ploidy) + " to " +
                               std::to_string(calls.largest_ploidy) + ", plus 128 if missing");
    }
  }
  // With two alleles both phased and unphased calls hold as many values as copies.
  const uint64_t num_bits = summary.num_copies * static_cast<uint64_t>(calls.bits);
  if (calls.value_bytes != (num_bits + 7) / 8) {
    return DamagedRecord("the probabilities have the wrong length",
                         std::to_string(calls.value_bytes) + " bytes",
                         std::to_string((num_bits + 7) / 8));
  }
  if (!PaddingIsZero(calls.values, num_bits)) {
    return DamagedRecord("the padding after the probabilities is not zero");
  }
  return summary;
}

Result<void> Decoder::DecodeLayout2(VariantBlock& block) {
  TALLELE_ASSIGN(StoredCalls calls, ReadShape());
  TALLELE_ASSIGN(const PloidySummary ploidies, CheckPloidies(calls));
  if (ploidies.largest > 2) {
    KeepState(VariantState::kHighPloidy, block);
    return {};
  }
  // The ploidies that occur choose the way, not the declared range, which may be wider.
  calls.smallest_ploidy = ploidies.smallest;
  calls.largest_ploidy = ploidies.largest;
  const bool has_gaps = (ploidies.any_bits & kMissingFlag) != 0;
  if (calls.bits == 8 && !calls.phased && calls.smallest_ploidy == 2 && calls.num_samples > 0) {
    return DecodePairsOfBytes(calls, has_gaps, block);
  }
  return DecodeCalls(calls, has_gaps, block);
}

// 8 bits, unphased, diploid: the stored bytes are the pairs of the row. All of them are checked,
// those of people who are not selected too.
Result<void> Decoder::DecodePairsOfBytes(const StoredCalls& calls, bool has_gaps,
                                         VariantBlock& block) {
  PairMoments sums = ComputePairMoments(target_, calls.values, calls.num_samples);
  bool gap_with_numbers = false;
  missing_.clear();
  if (has_gaps) {
    ForEachMissing(calls.ploidies, calls.num_samples, [&](size_t i) {
      gap_with_numbers |= (calls.values[2 * i] | calls.values[2 * i + 1]) != 0;
      const uint32_t position =
          block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
      if (position != kNotSelected) missing_.push_back(position);
    });
  }
  if (sums.sum_exceeds_255 || gap_with_numbers) {
    ReadPairs(calls, pairs_);
    return FirstBadPair(calls, pairs_);
  }
  const size_t people = selection_.num_samples();
  uint8_t* row = block.ScratchRow();
  if (!in_place_) {
    const PairRows stored{calls.values, 0, 1, calls.num_samples, PairBound::kSumUpTo255};
    GatherPairs(stored, *selection_.file_positions, row, 0);
    sums = ComputePairMoments(target_, row, people);
  }
  DecodedVariant variant;
  variant.denominator = 255;
  variant.missing = block.StoreIndices(missing_);
  variant.moments = UnphasedMoments(255, sums, static_cast<int64_t>(people) - std::ssize(missing_));
  KeepSparseOrDense(variant, row, block);
  return {};
}

// Every other kind of call. Checks all samples, selected or not.
Result<void> Decoder::DecodeCalls(const StoredCalls& calls, bool has_gaps, VariantBlock& block) {
  DecodedVariant variant;
  variant.denominator = static_cast<uint32_t>((uint64_t{1} << calls.bits) - 1);
  variant.kind = calls.phased ? CallKind::kPhased : CallKind::kUnphased;
  variant.num_planes = static_cast<uint8_t>((calls.bits + 7) / 8);
  if (!ReadPairs(calls, pairs_)) return FirstBadPair(calls, pairs_);
  missing_.clear();
  haploid_.clear();
  if (calls.smallest_ploidy < 2 || has_gaps) ListUnusual(calls);
  SelectPairs();
  if (calls.phased) {
    for (const uint32_t person : haploid_) pairs_[person].a1 = pairs_[person].a0;
  }
  StorePlanes(variant, block);
  return {};
}

// Fills `missing_` and `haploid_` with block positions. A sample without copies counts as missing.
void Decoder::ListUnusual(const StoredCalls& calls) {
  const size_t n = calls.num_samples;
  missing_.resize(n + 1);
  haploid_.resize(n + 1);
  size_t num_missing = 0, num_haploid = 0;
  // Appends always and moves on where it counts: men and women alternate unpredictably.
  for (size_t i = 0; i < n; ++i) {
    const uint8_t byte = calls.ploidies[i];
    const uint32_t position =
        block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
    const bool selected = position != kNotSelected;
    const bool missing = (byte & kMissingFlag) != 0 || byte == 0;
    missing_[num_missing] = position;
    num_missing += static_cast<size_t>(selected & missing);
    haploid_[num_haploid] = position;
    num_haploid += static_cast<size_t>(selected & (byte == 1));
  }
  missing_.resize(num_missing);
  haploid_.resize(num_haploid);
}

// Keeps the pairs of the selected people, in place: file positions ascend.
void Decoder::SelectPairs() {
  if (!selection_.file_positions) return;
  const std::vector<uint32_t>& chosen = *selection_.file_positions;
  for (size_t i = 0; i < chosen.size(); ++i) pairs_[i] = pairs_[chosen[i]];
  pairs_.resize(chosen.size());
}

// Three 16-bit probabilities a sample in units of 1/32768; all zero means missing.
Result<void> Decoder::DecodeLayout1(VariantBlock& block) {
  missing_.clear();
  haploid_.clear();
  DecodedVariant variant;
  variant.denominator = kLayout1Denominator;
  variant.num_planes = 2;
  pairs_.resize(header_.num_samples);
  for (size_t i = 0; i < header_.num_samples; ++i) {
    const uint8_t* p = payload_.data() + 6 * i;
    StoredPair pair{LoadU16(p), LoadU16(p + 2)};
    const uint32_t sum = pair.a0 + pair.a1 + LoadU16(p + 4);
    // Writers round each of the three; more than that is damage.
    if (sum > kLayout1Denominator + 2) return SumTooLarge(i, sum, kLayout1Denominator);
    if (pair.a0 + pair.a1 > kLayout1Denominator) pair.a1 = kLayout1Denominator - pair.a0;
    pairs_[i] = pair;
    const uint32_t position =
        block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
    if (sum == 0 && position != kNotSelected) missing_.push_back(position);
  }
  SelectPairs();
  StorePlanes(variant, block);
  return {};
}

// Moments and byte planes of `pairs_`.
void Decoder::StorePlanes(DecodedVariant& variant, VariantBlock& block) {
  variant.missing = block.StoreIndices(missing_);
  variant.haploid = block.StoreIndices(haploid_);
  variant.moments = SumPairs(variant.kind, variant.denominator, pairs_, haploid_);
  variant.moments.num_called = std::ssize(pairs_) - std::ssize(missing_);
  variant.moments.num_haploid = std::ssize(haploid_);
  uint8_t* row = block.ScratchRow();
  SplitPlanes(pairs_, variant.num_planes, row, block.rows().stride);
  if (variant.num_planes == 1 && variant.kind == CallKind::kUnphased) {
    KeepSparseOrDense(variant, row, block);
    return;
  }
  variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
  block.KeepRows(variant.num_planes, PairBound::kAnyBytes);
  block.mutable_variants().push_back(variant);
}

}  // namespace tallele::bgen

#include "genotype/bgen/bgen_decode.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace tallele::bgen {
namespace {

constexpr uint32_t kNotSelected = 0xffffffff;
constexpr uint32_t kLayout1Denominator = 32768;
constexpr uint8_t kMissingFlag = 0x80;
constexpr uint8_t kReservedPloidyBit = 0x40;

Error Bad(std::string what, std::string found = {}, std::string expected = {}) {
  Error error = InputError(std::move(what), {}, "The file is damaged; copy or make it again.");
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

std::string SampleNumber(size_t sample) { return "sample " + std::to_string(sample + 1); }

// Little-endian values of a fixed number of bits, one after the other. Reads up to 8 bytes past
// the last value.
class BitReader {
 public:
  BitReader(const uint8_t* data, int bits)
      : data_(data), bits_(bits), mask_((uint64_t{1} << bits) - 1) {}

  uint32_t Next() {
    uint64_t word;
    std::memcpy(&word, data_ + (bit_ >> 3), 8);
    const uint64_t value = word >> (bit_ & 7) & mask_;
    bit_ += static_cast<uint64_t>(bits_);
    return static_cast<uint32_t>(value);
  }

 private:
  const uint8_t* data_;
  int bits_;
  uint64_t mask_;
  uint64_t bit_ = 0;
};

bool PaddingIsZero(const uint8_t* data, uint64_t num_bits) {
  const uint64_t used = num_bits & 7;
  return used == 0 || data[num_bits >> 3] >> used == 0;
}

}  // namespace

struct Inflater::State {
  libdeflate_decompressor* deflate = libdeflate_alloc_decompressor();
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~State() {
    libdeflate_free_decompressor(deflate);
    ZSTD_freeDCtx(zstd);
  }
};

Inflater::Inflater() : state_(std::make_unique<State>()) {}
Inflater::~Inflater() = default;

Result<void> Inflater::Inflate(Compression compression, std::span<const uint8_t> stored,
                               std::span<uint8_t> out) {
  if (compression == Compression::kNone) {
    if (stored.size() != out.size()) return Bad("the genotypes have the wrong length");
    std::memcpy(out.data(), stored.data(), out.size());
    return {};
  }
  if (compression == Compression::kZstd) {
    const size_t made =
        ZSTD_decompressDCtx(state_->zstd, out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(made)) return Bad("cannot inflate the genotypes", ZSTD_getErrorName(made));
    if (made == out.size()) return {};
    return Bad("the genotypes inflate to another length", std::to_string(made),
               std::to_string(out.size()));
  }
  size_t used = 0, made = 0;
  const libdeflate_result result = libdeflate_zlib_decompress_ex(
      state_->deflate, stored.data(), stored.size(), out.data(), out.size(), &used, &made);
  if (result != LIBDEFLATE_SUCCESS) {
    return Bad("cannot inflate the genotypes", result == LIBDEFLATE_INSUFFICIENT_SPACE
                                                   ? "more bytes than declared"
                                                   : "damaged zlib data or a wrong checksum");
  }
  if (made != out.size()) {
    return Bad("the genotypes inflate to another length", std::to_string(made),
               std::to_string(out.size()));
  }
  if (used != stored.size()) {
    return Bad("bytes follow the compressed genotypes", std::to_string(stored.size() - used));
  }
  return {};
}

struct Decoder::Shape {
  const uint8_t* ploidies = nullptr;  // one byte a sample: copies, and the missing flag
  const uint8_t* values = nullptr;
  uint64_t value_bytes = 0;
  int bits = 0;
  int smallest_ploidy = 0;
  int largest_ploidy = 0;
  bool phased = false;
};

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
  return Bad("the declared length of the genotypes is impossible", std::to_string(inflated),
             std::to_string(smallest) + " to " + std::to_string(largest));
}

Result<void> Decoder::Decode(std::span<const uint8_t> stored, uint32_t inflated_size,
                             uint32_t num_alleles, VariantBlock& block) {
  if (num_alleles != 2) {
    DecodedVariant variant;
    variant.state = VariantState::kNotBiallelic;
    block.mutable_variants().push_back(variant);
    return {};
  }
  TALLELE_TRY(CheckInflatedSize(header_, stored.size(), inflated_size));
  TALLELE_ASSIGN(const bool done, DecodeInPlace(stored, inflated_size, block));
  if (done) return {};
  payload_.resize(size_t{inflated_size} + 8);
  payload_size_ = inflated_size;
  TALLELE_TRY(
      inflater_.Inflate(header_.compression, stored, std::span(payload_.data(), payload_size_)));
  return header_.layout == 1 ? DecodeLayout1(block) : DecodeLayout2(block);
}

// The common case without a copy: 8 bits, unphased, everyone diploid, called and selected. The
// record is inflated so that its probabilities are the row. False, with nothing kept, when the
// record turns out to be of another kind.
Result<bool> Decoder::DecodeInPlace(std::span<const uint8_t> stored, uint32_t inflated_size,
                                    VariantBlock& block) {
  const size_t n = header_.num_samples;
  const size_t prefix = Layout2Prefix(n);
  if (header_.layout != 2 || selection_.file_positions || n == 0) return false;
  if (inflated_size != prefix + 2 * n) return false;
  uint8_t* row = block.ScratchRow();
  uint8_t* payload = row - prefix;
  TALLELE_TRY(inflater_.Inflate(header_.compression, stored, std::span(payload, inflated_size)));
  const uint8_t* ploidies = payload + 8;
  const bool simple = LoadU32(payload) == n && LoadU16(payload + 4) == 2 && payload[6] == 2 &&
                      payload[7] == 2 && payload[8 + n] == 0 && payload[9 + n] == 8 &&
                      ploidies[0] == 2 && std::memcmp(ploidies, ploidies + 1, n - 1) == 0;
  if (!simple) return false;
  std::memset(row + 2 * n, 0, 2 * (PaddedPeople(n) - n));
  const PairMoments sums = ComputePairMoments(target_, row, n);
  if (sums.sum_exceeds_255) return false;  // the plain path finds and names the sample
  DecodedVariant variant;
  variant.denominator = 255;
  variant.moments = UnphasedMoments(255, sums, static_cast<int64_t>(n));
  KeepSparseOrDense(variant, row, block);
  return true;
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

Result<Decoder::Shape> Decoder::ReadShape() const {
  const size_t n = header_.num_samples;
  const uint8_t* p = payload_.data();
  if (LoadU32(p) != n) {
    return Bad("the genotypes are of another number of samples", std::to_string(LoadU32(p)),
               std::to_string(n));
  }
  if (LoadU16(p + 4) != 2) {
    return Bad("the genotypes are of another number of alleles", std::to_string(LoadU16(p + 4)),
               "2");
  }
  Shape shape;
  shape.smallest_ploidy = p[6];
  shape.largest_ploidy = p[7];
  shape.ploidies = p + 8;
  shape.bits = p[9 + n];
  shape.values = p + Layout2Prefix(n);
  shape.value_bytes = payload_size_ - Layout2Prefix(n);
  if (p[8 + n] > 1) return Bad("the phase flag is impossible", std::to_string(p[8 + n]), "0 or 1");
  shape.phased = p[8 + n] == 1;
  if (shape.bits < 1 || shape.bits > 32) {
    return Bad("the number of bits is impossible", std::to_string(shape.bits), "1 to 32");
  }
  if (shape.smallest_ploidy > shape.largest_ploidy || shape.largest_ploidy > 63) {
    return Bad("the ploidy range is impossible", std::to_string(shape.smallest_ploidy) + " to " +
                                                     std::to_string(shape.largest_ploidy));
  }
  return shape;
}

// Checks every ploidy byte and the length of the values; true when someone has over two copies.
Result<bool> Decoder::HasHighPloidy(const Shape& shape) const {
  uint64_t num_values = 0;
  bool high = false;
  for (size_t i = 0; i < header_.num_samples; ++i) {
    const uint8_t byte = shape.ploidies[i];
    const int ploidy = byte & 63;
    if ((byte & kReservedPloidyBit) != 0 || ploidy < shape.smallest_ploidy ||
        ploidy > shape.largest_ploidy) {
      return Bad("the ploidy of " + SampleNumber(i) + " is impossible", std::to_string(byte),
                 std::to_string(shape.smallest_ploidy) + " to " +
                     std::to_string(shape.largest_ploidy) + ", plus 128 if missing");
    }
    // With two alleles both phased and unphased calls hold as many values as copies.
    num_values += static_cast<uint64_t>(ploidy);
    high |= ploidy > 2;
  }
  const uint64_t num_bits = num_values * static_cast<uint64_t>(shape.bits);
  if (shape.value_bytes != (num_bits + 7) / 8) {
    return Bad("the probabilities have the wrong length",
               std::to_string(shape.value_bytes) + " bytes", std::to_string((num_bits + 7) / 8));
  }
  if (!PaddingIsZero(shape.values, num_bits))
    return Bad("the padding after the probabilities is not zero");
  return high;
}

Result<void> Decoder::DecodeLayout2(VariantBlock& block) {
  TALLELE_ASSIGN(const Shape shape, ReadShape());
  TALLELE_ASSIGN(const bool high, HasHighPloidy(shape));
  if (high) {
    DecodedVariant variant;
    variant.state = VariantState::kHighPloidy;
    block.mutable_variants().push_back(variant);
    return {};
  }
  missing_.clear();
  haploid_.clear();
  if (shape.bits == 8 && !shape.phased && shape.smallest_ploidy == 2) {
    return DecodePairsOfBytes(shape, block);
  }
  return DecodeCalls(shape, block);
}

// 8 bits, unphased, diploid, with missing calls or a selection: pairs are copied as they are.
Result<void> Decoder::DecodePairsOfBytes(const Shape& shape, VariantBlock& block) {
  const size_t n = header_.num_samples;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t b0 = shape.values[2 * i], b1 = shape.values[2 * i + 1];
    if (b0 + b1 > 255) {
      return Bad("the probabilities of " + SampleNumber(i) + " add up to more than 1",
                 std::to_string(b0 + b1), "at most 255");
    }
    if ((shape.ploidies[i] & kMissingFlag) == 0) continue;
    if (b0 != 0 || b1 != 0) {
      return Bad("the missing call of " + SampleNumber(i) + " has probabilities other than 0");
    }
    const uint32_t position =
        block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
    if (position != kNotSelected) missing_.push_back(position);
  }
  const size_t people = selection_.num_samples();
  uint8_t* row = block.ScratchRow();
  if (selection_.file_positions) {
    const std::vector<uint32_t>& chosen = *selection_.file_positions;
    for (size_t i = 0; i < people; ++i)
      std::memcpy(row + 2 * i, shape.values + 2 * size_t{chosen[i]}, 2);
  } else {
    std::memcpy(row, shape.values, 2 * n);
  }
  std::memset(row + 2 * people, 0, 2 * (PaddedPeople(people) - people));
  DecodedVariant variant;
  variant.denominator = 255;
  variant.missing = block.StoreIndices(missing_);
  variant.moments = UnphasedMoments(255, ComputePairMoments(target_, row, people),
                                    static_cast<int64_t>(people - missing_.size()));
  KeepSparseOrDense(variant, row, block);
  return {};
}

// Every other kind of call, one value after the other. Checks all samples, selected or not.
Result<void> Decoder::DecodeCalls(const Shape& shape, VariantBlock& block) {
  DecodedVariant variant;
  variant.denominator = static_cast<uint32_t>((uint64_t{1} << shape.bits) - 1);
  variant.kind = shape.phased ? CallKind::kPhased : CallKind::kUnphased;
  variant.num_planes = static_cast<uint8_t>((shape.bits + 7) / 8);
  pairs_.assign(selection_.num_samples(), StoredPair{});
  BitReader values(shape.values, shape.bits);
  for (size_t i = 0; i < header_.num_samples; ++i) {
    const int ploidy = shape.ploidies[i] & 63;
    const bool missing = (shape.ploidies[i] & kMissingFlag) != 0 || ploidy == 0;
    StoredPair pair;
    if (ploidy > 0) pair.a0 = values.Next();
    if (ploidy > 1) pair.a1 = values.Next();
    if (missing && (pair.a0 != 0 || pair.a1 != 0)) {
      return Bad("the missing call of " + SampleNumber(i) + " has probabilities other than 0");
    }
    if (!shape.phased && uint64_t{pair.a0} + pair.a1 > variant.denominator) {
      return Bad("the probabilities of " + SampleNumber(i) + " add up to more than 1",
                 std::to_string(uint64_t{pair.a0} + pair.a1),
                 "at most " + std::to_string(variant.denominator));
    }
    const uint32_t position =
        block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
    if (position == kNotSelected) continue;
    if (missing) {
      missing_.push_back(position);
      continue;
    }
    if (ploidy == 1) {
      haploid_.push_back(position);
      if (shape.phased) pair.a1 = pair.a0;
    }
    pairs_[position] = pair;
  }
  return StorePlanes(variant, block);
}

// Three 16-bit probabilities a sample in units of 1/32768; all zero means missing.
Result<void> Decoder::DecodeLayout1(VariantBlock& block) {
  missing_.clear();
  haploid_.clear();
  DecodedVariant variant;
  variant.denominator = kLayout1Denominator;
  variant.num_planes = 2;
  pairs_.assign(selection_.num_samples(), StoredPair{});
  for (size_t i = 0; i < header_.num_samples; ++i) {
    const uint8_t* p = payload_.data() + 6 * i;
    StoredPair pair{LoadU16(p), LoadU16(p + 2)};
    const uint32_t sum = pair.a0 + pair.a1 + LoadU16(p + 4);
    // Writers round each of the three; more than that is damage.
    if (sum > kLayout1Denominator + 2) {
      return Bad("the probabilities of " + SampleNumber(i) + " add up to more than 1",
                 std::to_string(sum), "at most 32768");
    }
    if (pair.a0 + pair.a1 > kLayout1Denominator) pair.a1 = kLayout1Denominator - pair.a0;
    const uint32_t position =
        block_position_.empty() ? static_cast<uint32_t>(i) : block_position_[i];
    if (position == kNotSelected) continue;
    pairs_[position] = pair;
    if (sum == 0) missing_.push_back(position);
  }
  return StorePlanes(variant, block);
}

// Moments and byte planes of `pairs_`.
Result<void> Decoder::StorePlanes(DecodedVariant& variant, VariantBlock& block) {
  const size_t people = pairs_.size();
  variant.missing = block.StoreIndices(missing_);
  variant.haploid = block.StoreIndices(haploid_);
  VariantMoments& m = variant.moments;
  m.num_called = static_cast<int64_t>(people - missing_.size());
  m.num_haploid = static_cast<int64_t>(haploid_.size());
  size_t next_haploid = 0;
  for (size_t i = 0; i < people; ++i) {
    const bool one_copy = next_haploid < haploid_.size() && haploid_[next_haploid] == i;
    next_haploid += one_copy;
    const __int128 t = variant.kind == CallKind::kPhased
                           ? __int128{pairs_[i].a0} + pairs_[i].a1
                           : 2 * __int128{pairs_[i].a0} + pairs_[i].a1;
    m.sum_t += t;
    m.sum_t2 += t * t;
    m.sum_variance += CallVariance(variant, pairs_[i], one_copy);
  }
  uint8_t* row = block.ScratchRow();
  const size_t stride = block.rows().stride;
  for (size_t plane = 0; plane < variant.num_planes; ++plane) {
    uint8_t* to = row + plane * stride;
    for (size_t i = 0; i < people; ++i) {
      to[2 * i] = static_cast<uint8_t>(pairs_[i].a0 >> (8 * plane));
      to[2 * i + 1] = static_cast<uint8_t>(pairs_[i].a1 >> (8 * plane));
    }
    std::memset(to + 2 * people, 0, 2 * (PaddedPeople(people) - people));
  }
  if (variant.num_planes == 1 && variant.kind == CallKind::kUnphased) {
    KeepSparseOrDense(variant, row, block);
    return {};
  }
  variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
  block.KeepRows(variant.num_planes, PairBound::kAnyBytes);
  block.mutable_variants().push_back(variant);
  return {};
}

}  // namespace tallele::bgen

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "genotype/writers/bgen_writer.h"
#include "genotype/writers/block_compressor.h"
#include "genotype/writers/little_endian.h"

namespace tallele {
namespace {

constexpr uint8_t kMissingFlag = 0x80;

struct PloidyRange {
  uint8_t lowest = 2;
  uint8_t highest = 2;
};

PloidyRange RangeOf(std::span<const uint8_t> ploidy) {
  if (ploidy.empty()) return {};
  PloidyRange range{2, 1};
  for (const uint8_t p : ploidy) {
    range.lowest = std::min(range.lowest, p);
    range.highest = std::max(range.highest, p);
  }
  return range;
}

void PutNumber(uint16_t value, int bits, uint8_t*& out) {
  *out++ = static_cast<uint8_t>(value);
  if (bits == 16) *out++ = static_cast<uint8_t>(value >> 8);
}

Error BadVariant(const BgenVariantData& variant, std::string what) {
  return InternalError("BGEN variant " + std::string(variant.id) + ": " + std::move(what));
}

Result<void> CheckText(const BgenVariantData& variant) {
  constexpr size_t kLongest = std::numeric_limits<uint16_t>::max();
  for (const std::string_view text : {variant.id, variant.rsid, variant.chromosome}) {
    if (text.size() > kLongest) return BadVariant(variant, "a name is longer than 65535 bytes");
  }
  return {};
}

void AppendIdentity(const BgenVariantData& variant, std::vector<uint8_t>& out) {
  AppendText16(variant.id, out);
  AppendText16(variant.rsid, out);
  AppendText16(variant.chromosome, out);
  AppendLittle(variant.position, out);
  AppendLittle(uint16_t{2}, out);
  AppendText32(variant.first_allele, out);
  AppendText32(variant.second_allele, out);
}

}  // namespace

struct BgenVariantEncoder::State {
  BgenWriterFormat format;
  BlockCompressor compressor;
  std::vector<uint8_t> block;

  explicit State(const BgenWriterFormat& f) : format(f), compressor(f.compression, f.level) {}

  void FillBlock(const BgenVariantData& variant);
  uint8_t* PutProbabilities(const BgenVariantData& variant, const uint8_t* flags, uint8_t* out);
};

// Numbers of people without a call are zeros; a haploid person has one number.
uint8_t* BgenVariantEncoder::State::PutProbabilities(const BgenVariantData& variant,
                                                     const uint8_t* flags, uint8_t* out) {
  const size_t num_people = format.num_samples;
  const uint16_t* numbers = variant.probabilities.data();
  if (variant.ploidy.empty() && variant.missing.empty()) {
    if (format.bits == 16) {
      std::memcpy(out, numbers, 4 * num_people);
      return out + 4 * num_people;
    }
    for (size_t i = 0; i < 2 * num_people; ++i) out[i] = static_cast<uint8_t>(numbers[i]);
    return out + 2 * num_people;
  }
  for (size_t i = 0; i < num_people; ++i) {
    const bool missing = (flags[i] & kMissingFlag) != 0;
    const int copies = flags[i] & ~kMissingFlag;
    for (int k = 0; k < copies; ++k) PutNumber(missing ? 0 : numbers[2 * i + k], format.bits, out);
  }
  return out;
}

void BgenVariantEncoder::State::FillBlock(const BgenVariantData& variant) {
  const size_t num_people = format.num_samples;
  const PloidyRange range = RangeOf(variant.ploidy);
  block.resize(10 + num_people + num_people * 2 * static_cast<size_t>(format.bits / 8));
  uint8_t* out = block.data();
  out = PutLittle(format.num_samples, out);
  out = PutLittle(uint16_t{2}, out);
  *out++ = range.lowest;
  *out++ = range.highest;
  uint8_t* const flags = out;
  if (variant.ploidy.empty()) {
    std::memset(flags, 2, num_people);
  } else {
    std::memcpy(flags, variant.ploidy.data(), num_people);
  }
  for (const uint32_t person : variant.missing) flags[person] |= kMissingFlag;
  out += num_people;
  *out++ = variant.phased ? 1 : 0;
  *out++ = static_cast<uint8_t>(format.bits);
  out = PutProbabilities(variant, flags, out);
  block.resize(static_cast<size_t>(out - block.data()));
}

BgenVariantEncoder::BgenVariantEncoder(const BgenWriterFormat& format)
    : state_(std::make_unique<State>(format)) {}
BgenVariantEncoder::~BgenVariantEncoder() = default;

Result<void> BgenVariantEncoder::Append(const BgenVariantData& variant,
                                        std::vector<uint8_t>& out) try {
  const BgenWriterFormat& format = state_->format;
  if (variant.probabilities.size() != 2 * size_t{format.num_samples}) {
    return BadVariant(variant, "two numbers a person are needed");
  }
  if (!variant.ploidy.empty() && variant.ploidy.size() != format.num_samples) {
    return BadVariant(variant, "one ploidy a person is needed");
  }
  TALLELE_TRY(CheckText(variant));
  state_->FillBlock(variant);
  AppendIdentity(variant, out);
  if (format.compression == BgenCompression::kNone) {
    AppendLittle(static_cast<uint32_t>(state_->block.size()), out);
    out.insert(out.end(), state_->block.begin(), state_->block.end());
    return {};
  }
  const size_t length_at = out.size();
  AppendLittle(uint32_t{0}, out);
  AppendLittle(static_cast<uint32_t>(state_->block.size()), out);
  TALLELE_TRY(state_->compressor.Append(state_->block, out));
  PutLittle(static_cast<uint32_t>(out.size() - length_at - 4), out.data() + length_at);
  return {};
} catch (const std::bad_alloc&) {
  return IoError("not enough memory to encode a variant", std::string(variant.id), ENOMEM);
}

}  // namespace tallele

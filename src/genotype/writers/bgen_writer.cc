#include "genotype/writers/bgen_writer.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/atomic_file.h"

namespace tallele {
namespace {

constexpr uint8_t kMissingFlag = 0x80;

void PutU16(std::vector<uint8_t>& out, uint16_t value) {
  out.push_back(static_cast<uint8_t>(value));
  out.push_back(static_cast<uint8_t>(value >> 8));
}

void PutU32(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

void PutText(std::vector<uint8_t>& out, std::string_view text, bool long_length) {
  if (long_length) {
    PutU32(out, static_cast<uint32_t>(text.size()));
  } else {
    PutU16(out, static_cast<uint16_t>(text.size()));
  }
  out.insert(out.end(), text.begin(), text.end());
}

}  // namespace

struct BgenVariantEncoder::State {
  BgenWriterFormat format;
  std::vector<uint8_t> payload;
  libdeflate_compressor* deflate = nullptr;
  ZSTD_CCtx* zstd = nullptr;

  ~State() {
    libdeflate_free_compressor(deflate);
    ZSTD_freeCCtx(zstd);
  }
  void FillPayload(const BgenVariantData& variant);
  Result<void> AppendCompressed(std::vector<uint8_t>& out);
};

void BgenVariantEncoder::State::FillPayload(const BgenVariantData& variant) {
  const uint32_t n = format.num_samples;
  payload.clear();
  PutU32(payload, n);
  PutU16(payload, 2);
  const auto [least, most] = std::minmax_element(variant.ploidy.begin(), variant.ploidy.end());
  payload.push_back(variant.ploidy.empty() ? 2 : *least);
  payload.push_back(variant.ploidy.empty() ? 2 : *most);
  const size_t ploidies = payload.size();
  payload.insert(payload.end(), n, 2);
  if (!variant.ploidy.empty()) {
    std::copy(variant.ploidy.begin(), variant.ploidy.end(),
              payload.begin() + static_cast<std::ptrdiff_t>(ploidies));
  }
  for (const uint32_t person : variant.missing) payload[ploidies + person] |= kMissingFlag;
  payload.push_back(variant.phased ? 1 : 0);
  payload.push_back(static_cast<uint8_t>(format.bits));
  const size_t bytes = static_cast<size_t>(format.bits / 8);
  const size_t begin = payload.size();
  payload.resize(begin + 2 * bytes * n);
  uint8_t* to = payload.data() + begin;
  for (uint32_t i = 0; i < n; ++i) {
    const uint8_t ploidy = payload[ploidies + i];
    const int values = (ploidy & 63) == 1 ? 1 : 2;
    for (int k = 0; k < values; ++k) {
      const uint16_t value = (ploidy & kMissingFlag) != 0 ? 0 : variant.probabilities[2 * i + k];
      *to++ = static_cast<uint8_t>(value);
      if (bytes == 2) *to++ = static_cast<uint8_t>(value >> 8);
    }
  }
  payload.resize(static_cast<size_t>(to - payload.data()));
}

Result<void> BgenVariantEncoder::State::AppendCompressed(std::vector<uint8_t>& out) {
  if (format.compression == BgenCompression::kNone) {
    PutU32(out, static_cast<uint32_t>(payload.size()));
    out.insert(out.end(), payload.begin(), payload.end());
    return {};
  }
  const size_t length_at = out.size();
  PutU32(out, 0);
  PutU32(out, static_cast<uint32_t>(payload.size()));
  const size_t begin = out.size();
  size_t made = 0;
  if (format.compression == BgenCompression::kZlib) {
    out.resize(begin + libdeflate_zlib_compress_bound(deflate, payload.size()));
    made = libdeflate_zlib_compress(deflate, payload.data(), payload.size(), out.data() + begin,
                                    out.size() - begin);
    if (made == 0) return InternalError("a block of genotypes could not be compressed");
  } else {
    out.resize(begin + ZSTD_compressBound(payload.size()));
    made = ZSTD_compressCCtx(zstd, out.data() + begin, out.size() - begin, payload.data(),
                             payload.size(), format.level);
    if (ZSTD_isError(made)) return InternalError("a block of genotypes could not be compressed");
  }
  out.resize(begin + made);
  const uint32_t stored = static_cast<uint32_t>(made + 4);
  std::memcpy(out.data() + length_at, &stored, 4);
  return {};
}

BgenVariantEncoder::BgenVariantEncoder(const BgenWriterFormat& format)
    : state_(std::make_unique<State>()) {
  state_->format = format;
  state_->deflate = libdeflate_alloc_compressor(format.level);
  state_->zstd = ZSTD_createCCtx();
}
BgenVariantEncoder::~BgenVariantEncoder() = default;

Result<void> BgenVariantEncoder::Append(const BgenVariantData& variant, std::vector<uint8_t>& out) {
  if (variant.probabilities.size() != 2 * size_t{state_->format.num_samples}) {
    return InternalError("a variant to write has the wrong number of probabilities");
  }
  PutText(out, variant.id, false);
  PutText(out, variant.rsid, false);
  PutText(out, variant.chromosome, false);
  PutU32(out, variant.position);
  PutU16(out, 2);
  PutText(out, variant.first_allele, true);
  PutText(out, variant.second_allele, true);
  state_->FillPayload(variant);
  return state_->AppendCompressed(out);
}

struct BgenWriter::State {
  std::unique_ptr<AtomicFile> file;
  size_t promised = 0;
  size_t appended = 0;
};

BgenWriter::BgenWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BgenWriter::~BgenWriter() = default;

Result<std::unique_ptr<BgenWriter>> BgenWriter::Create(const std::string& path,
                                                       const BgenWriterFormat& format,
                                                       uint32_t num_variants,
                                                       std::span<const std::string> sample_ids) {
  std::vector<uint8_t> ids;
  for (const std::string& id : sample_ids) PutText(ids, id, false);
  const uint32_t header_bytes = 20;
  const uint32_t sample_bytes = sample_ids.empty() ? 0 : static_cast<uint32_t>(ids.size()) + 8;
  std::vector<uint8_t> head;
  PutU32(head, header_bytes + sample_bytes);
  PutU32(head, header_bytes);
  PutU32(head, num_variants);
  PutU32(head, format.num_samples);
  for (const char c : {'b', 'g', 'e', 'n'}) head.push_back(static_cast<uint8_t>(c));
  PutU32(head, static_cast<uint32_t>(format.compression) | 2u << 2 |
                   (sample_ids.empty() ? 0u : 1u << 31));
  if (!sample_ids.empty()) {
    PutU32(head, sample_bytes);
    PutU32(head, format.num_samples);
    head.insert(head.end(), ids.begin(), ids.end());
  }
  auto state = std::make_unique<State>();
  TALLELE_ASSIGN(state->file, AtomicFile::Create(path));
  TALLELE_TRY(state->file->Append(std::as_bytes(std::span(head))));
  state->promised = num_variants;
  return std::unique_ptr<BgenWriter>(new BgenWriter(std::move(state)));
}

Result<void> BgenWriter::Append(std::span<const uint8_t> encoded, size_t num_variants) {
  state_->appended += num_variants;
  return state_->file->Append(std::as_bytes(encoded));
}

Result<void> BgenWriter::Commit() {
  if (state_->appended != state_->promised) {
    return InternalError("a BGEN file got another number of variants than its header says");
  }
  return state_->file->Commit();
}

}  // namespace tallele

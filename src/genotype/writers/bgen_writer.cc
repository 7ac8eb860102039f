#include "genotype/writers/bgen_writer.h"

#include <cerrno>
#include <limits>
#include <new>
#include <utility>

#include "base/atomic_file.h"
#include "genotype/writers/little_endian.h"

namespace tallele {
namespace {

constexpr uint32_t kHeaderBytes = 20;
constexpr uint32_t kLayout2 = 2u << 2;
constexpr uint32_t kHasSampleIds = 1u << 31;

Result<void> CheckFormat(const BgenWriterFormat& format) {
  if (format.bits != 8 && format.bits != 16) {
    return UsageError("BGEN files are written with 8 or 16 bits, not " +
                      std::to_string(format.bits));
  }
  const bool zlib = format.compression == BgenCompression::kZlib;
  const bool zstd = format.compression == BgenCompression::kZstd;
  if ((zlib && (format.level < 0 || format.level > 12)) ||
      (zstd && (format.level < 0 || format.level > 19))) {
    return UsageError("compression level " + std::to_string(format.level) + " is out of range",
                      "zlib takes 0 to 12, zstd 0 to 19.");
  }
  return {};
}

Result<std::vector<uint8_t>> SampleBlock(std::span<const std::string> sample_ids) {
  std::vector<uint8_t> block;
  AppendLittle(uint32_t{0}, block);
  AppendLittle(static_cast<uint32_t>(sample_ids.size()), block);
  for (const std::string& id : sample_ids) {
    if (id.size() > std::numeric_limits<uint16_t>::max()) {
      return UsageError("a sample identifier is longer than 65535 bytes");
    }
    AppendText16(id, block);
  }
  if (block.size() > std::numeric_limits<uint32_t>::max() - kHeaderBytes) {
    return UsageError("the sample identifiers take more than 4 GiB");
  }
  PutLittle(static_cast<uint32_t>(block.size()), block.data());
  return block;
}

std::span<const std::byte> AsBytes(std::span<const uint8_t> bytes) { return std::as_bytes(bytes); }

}  // namespace

struct BgenWriter::State {
  std::unique_ptr<AtomicFile> file;
  uint32_t num_variants = 0;
  size_t num_written = 0;
};

BgenWriter::BgenWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BgenWriter::~BgenWriter() = default;

Result<std::unique_ptr<BgenWriter>> BgenWriter::Create(
    const std::string& path, const BgenWriterFormat& format, uint32_t num_variants,
    std::span<const std::string> sample_ids) try {
  TALLELE_TRY(CheckFormat(format));
  if (!sample_ids.empty() && sample_ids.size() != format.num_samples) {
    return InternalError("the number of sample identifiers is not the number of samples");
  }
  std::vector<uint8_t> samples;
  if (!sample_ids.empty()) {
    TALLELE_ASSIGN(samples, SampleBlock(sample_ids));
  }
  std::vector<uint8_t> header;
  AppendLittle(static_cast<uint32_t>(kHeaderBytes + samples.size()), header);
  AppendLittle(kHeaderBytes, header);
  AppendLittle(num_variants, header);
  AppendLittle(format.num_samples, header);
  for (const char c : {'b', 'g', 'e', 'n'}) header.push_back(static_cast<uint8_t>(c));
  AppendLittle(static_cast<uint32_t>(format.compression) | kLayout2 |
                   (sample_ids.empty() ? 0 : kHasSampleIds),
               header);
  auto state = std::make_unique<State>();
  state->num_variants = num_variants;
  TALLELE_ASSIGN(state->file, AtomicFile::Create(path));
  TALLELE_TRY(state->file->Append(AsBytes(header)));
  TALLELE_TRY(state->file->Append(AsBytes(samples)));
  return std::unique_ptr<BgenWriter>(new BgenWriter(std::move(state)));
} catch (const std::bad_alloc&) {
  return IoError("not enough memory for the header", path, ENOMEM);
}

Result<void> BgenWriter::Append(std::span<const uint8_t> encoded, size_t num_variants) {
  state_->num_written += num_variants;
  return state_->file->Append(AsBytes(encoded));
}

Result<void> BgenWriter::Commit() {
  if (state_->num_written != state_->num_variants) {
    return InternalError("a BGEN file was promised " + std::to_string(state_->num_variants) +
                         " variants and got " + std::to_string(state_->num_written));
  }
  return state_->file->Commit();
}

}  // namespace tallele

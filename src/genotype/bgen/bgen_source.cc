#include "genotype/bgen/bgen_source.h"

#include <new>

#include "genotype/bgen/bgen_decode.h"
#include "genotype/bgen/bgen_error.h"
#include "genotype/bgen/bgen_header.h"
#include "genotype/bgen/bgen_index.h"

namespace tallele {
namespace bgen {
namespace {

std::string CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kZlib:
      return "zlib";
    case Compression::kZstd:
      return "zstd";
  }
  return "none";
}

Error OutOfMemory(const std::string& path) {
  Error error = NumericError("not enough memory for a block of genotypes", path,
                             "Use a smaller --bsize or fewer --threads.");
  error.kind = ErrorKind::kIo;
  return error;
}

class BgenCursor final : public GenotypeCursor {
 public:
  BgenCursor(const ReadableFile& file, const Header& header, const Index& index,
             const SampleSelection& selection, CarrierPolicy carriers, CpuTarget target)
      : file_(file),
        header_(header),
        index_(index),
        num_people_(selection.num_samples()),
        decoder_(header, selection, carriers, target) {}

  Result<void> Read(VariantRange range) override {
    range_ = {};
    if (range.count == 0) return {};
    if (range.first + range.count > index_.payloads.size()) {
      return InternalError("a range of variants reaches past the end of the BGEN index");
    }
    const PayloadLocation& last = index_.payloads[range.first + range.count - 1];
    begin_ = index_.payloads[range.first].offset;
    try {
      bytes_.Resize(last.offset + last.stored - begin_);
    } catch (const std::bad_alloc&) {
      return OutOfMemory(file_.path());
    }
    TALLELE_TRY(file_.ReadAt(begin_, std::span(bytes_.data(), bytes_.size())));
    range_ = range;
    return {};
  }

  Result<void> Decode(VariantBlock& block) override {
    try {
      block.Reset(range_, num_people_, Layout2Prefix(header_.num_samples));
      for (size_t i = 0; i < range_.count; ++i) TALLELE_TRY(DecodeVariant(range_.first + i, block));
    } catch (const std::bad_alloc&) {
      return OutOfMemory(file_.path());
    }
    return {};
  }

 private:
  Result<void> DecodeVariant(size_t variant, VariantBlock& block) {
    const PayloadLocation& payload = index_.payloads[variant];
    const auto* stored =
        reinterpret_cast<const uint8_t*>(bytes_.data()) + (payload.offset - begin_);
    const VariantRecord record = index_.variants[variant];
    Result<void> done = decoder_.Decode(std::span(stored, payload.stored), payload.inflated,
                                        record.num_alleles, block);
    if (done.ok()) return done;
    return done.error().WithContext(At(file_.path(), payload.offset) + ", variant " +
                                    std::to_string(variant + 1) + " (" + std::string(record.id) +
                                    ")");
  }

  const ReadableFile& file_;
  const Header& header_;
  const Index& index_;
  size_t num_people_;
  Decoder decoder_;
  VariantRange range_;
  uint64_t begin_ = 0;
  AlignedBuffer bytes_;
};

class BgenSource final : public GenotypeSource {
 public:
  BgenSource(std::unique_ptr<ReadableFile> file, FileEnv& env, FileIdentity identity, Header header,
             Index index)
      : file_(std::move(file)),
        env_(env),
        identity_(identity),
        header_(std::move(header)),
        index_(std::move(index)) {
    format_.name = "BGEN";
    format_.layout = "layout " + std::to_string(header_.layout);
    format_.compression = CompressionName(header_.compression);
    format_.has_probabilities = true;
    format_.has_embedded_samples = !header_.sample_ids.empty();
    for (const std::string& id : header_.sample_ids) samples_.push_back({id, id, Sex::kUnknown});
  }

  const GenotypeFormat& format() const override { return format_; }
  const std::string& path() const override { return file_->path(); }
  const VariantIndex& variants() const override { return index_.variants; }
  const std::vector<SampleIdentity>& samples() const override { return samples_; }
  size_t num_samples() const override { return header_.num_samples; }

  Result<std::unique_ptr<GenotypeCursor>> OpenCursor(const SampleSelection& selection,
                                                     CarrierPolicy carriers,
                                                     CpuTarget target) const override {
    if (selection.file_positions) {
      for (const uint32_t sample : *selection.file_positions) {
        if (sample >= header_.num_samples) {
          return InternalError("a selected person is not in the BGEN file");
        }
      }
    }
    try {
      return std::unique_ptr<GenotypeCursor>(
          new BgenCursor(*file_, header_, index_, selection, carriers, target));
    } catch (const std::bad_alloc&) {
      return OutOfMemory(file_->path());
    }
  }

  Result<void> CheckUnchanged() const override {
    TALLELE_ASSIGN(const FileIdentity opened, file_->Identity());
    TALLELE_ASSIGN(const FileIdentity named, env_.Identity(file_->path()));
    if (opened == identity_ && named == identity_) return {};
    return InputError("the file changed while it was read", file_->path(),
                      "Run again when nothing writes to it.");
  }

 private:
  std::unique_ptr<ReadableFile> file_;
  FileEnv& env_;
  FileIdentity identity_;
  Header header_;
  Index index_;
  GenotypeFormat format_;
  std::vector<SampleIdentity> samples_;
};

// Blocks are sized by the header's number of samples: it must be one that the genotypes can have.
Result<void> CheckNumSamples(const std::string& path, const Header& header, const Index& index) {
  for (size_t v = 0; v < index.payloads.size(); ++v) {
    if (index.variants[v].num_alleles != 2) continue;
    const PayloadLocation& payload = index.payloads[v];
    const Result<void> checked = CheckInflatedSize(header, payload.stored, payload.inflated);
    if (checked.ok()) return {};
    return checked.error().WithContext(At(path, payload.offset) + ", variant " +
                                       std::to_string(v + 1) + " (" +
                                       std::string(index.variants[v].id) + ")");
  }
  return {};
}

// An index named by the user must fit; one that merely lies there may be stale.
Result<void> CheckAgainstBgi(const std::string& path, const BgenOptions& options, FileEnv& env,
                             const ReadableFile& file, uint64_t file_size, const Index& index) {
  const std::string beside = path + ".bgi";
  if (!options.bgi.empty()) return CheckBgi(options.bgi, file, file_size, index);
  if (!env.Identity(beside).ok()) return {};
  const Result<void> checked = CheckBgi(beside, file, file_size, index);
  if (!checked.ok() && options.events != nullptr) {
    options.events->Message(Severity::kWarning, checked.error().Message());
  }
  return {};
}

}  // namespace
}  // namespace bgen

Result<std::unique_ptr<GenotypeSource>> OpenBgen(const std::string& path,
                                                 const BgenOptions& options) {
  FileEnv& env = options.env != nullptr ? *options.env : PosixFileEnv();
  try {
    TALLELE_ASSIGN(auto file, env.OpenToRead(path));
    TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
    TALLELE_ASSIGN(bgen::Header header, bgen::ReadHeader(*file, identity.size));
    TALLELE_ASSIGN(bgen::Index index, bgen::ScanVariants(*file, header, identity.size));
    TALLELE_TRY(bgen::CheckNumSamples(path, header, index));
    TALLELE_TRY(bgen::CheckAgainstBgi(path, options, env, *file, identity.size, index));
    return std::unique_ptr<GenotypeSource>(
        new bgen::BgenSource(std::move(file), env, identity, std::move(header), std::move(index)));
  } catch (const std::bad_alloc&) {
    return bgen::OutOfMemory(path);
  }
}

}  // namespace tallele

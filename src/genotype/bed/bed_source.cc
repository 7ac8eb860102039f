#include "genotype/bed/bed_source.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_env.h"
#include "genotype/bed/bed_cursor.h"
#include "genotype/bed/bed_decode.h"
#include "genotype/bed/plink_tables.h"

namespace tallele {
namespace {

constexpr std::string_view kExtension = ".bed";
constexpr size_t kHeaderBytes = 3;

class BedSource final : public GenotypeSource {
 public:
  BedSource(std::unique_ptr<ReadableFile> file, FileEnv& env, FileIdentity identity,
            VariantIndex variants, std::vector<SampleIdentity> samples)
      : file_(std::move(file)),
        env_(env),
        identity_(identity),
        variants_(std::move(variants)),
        samples_(std::move(samples)) {
    format_.name = "PLINK 1 BED";
    format_.layout = "SNP-major";
    format_.compression = "none";
    format_.has_embedded_samples = true;
  }

  const GenotypeFormat& format() const override { return format_; }
  const std::string& path() const override { return file_->path(); }
  const VariantIndex& variants() const override { return variants_; }
  const std::vector<SampleIdentity>& samples() const override { return samples_; }
  size_t num_samples() const override { return samples_.size(); }

  Result<std::unique_ptr<GenotypeCursor>> OpenCursor(const SampleSelection& selection,
                                                     CarrierPolicy carriers,
                                                     CpuTarget target) const override {
    TALLELE_TRY(CheckSelection(selection));
    return std::unique_ptr<GenotypeCursor>(
        new bed::BedCursor(*file_, variants_, selection, carriers, target));
  }

  Result<void> CheckUnchanged() const override {
    TALLELE_ASSIGN(const FileIdentity now, env_.Identity(path()));
    if (now == identity_) return {};
    return InputError("the file was changed after it was opened", path(),
                      "Start again when nothing writes to it.");
  }

 private:
  Result<void> CheckSelection(const SampleSelection& selection) const {
    if (selection.num_file_samples != samples_.size()) {
      return InternalError("a selection of people was made for another genotype file");
    }
    if (!selection.file_positions) return {};
    int64_t last = -1;
    for (const uint32_t position : *selection.file_positions) {
      if (position <= last || position >= samples_.size()) {
        return InternalError("selected file positions are not ascending inside the file");
      }
      last = position;
    }
    return {};
  }

  std::unique_ptr<ReadableFile> file_;
  FileEnv& env_;
  FileIdentity identity_;
  VariantIndex variants_;
  std::vector<SampleIdentity> samples_;
  GenotypeFormat format_;
};

// The first bytes of the file, or what kind of file it is instead.
Result<void> CheckMagic(const ReadableFile& file, uint64_t size) {
  std::array<std::byte, kHeaderBytes> header{};
  if (size >= header.size()) TALLELE_TRY(file.ReadAt(0, header));
  if (header[0] != std::byte{0x6c} || header[1] != std::byte{0x1b}) {
    Error error = InputError("not a PLINK 1 .bed file", file.path() + ", byte 0",
                             "Give the .bed file of a PLINK 1 fileset.");
    error.expected = "the bytes 6c 1b";
    error.found = size < header.size() ? std::to_string(size) + " bytes in all" : "other bytes";
    return error;
  }
  if (header[2] == std::byte{0}) {
    return UnsupportedError("sample-major (individual-major) .bed files are not read",
                            file.path() + ", byte 2",
                            "Convert it with 'plink --bfile <prefix> --make-bed --out <new>'.");
  }
  if (header[2] != std::byte{1}) {
    Error error = InputError("unknown .bed mode", file.path() + ", byte 2");
    error.expected = "1 (SNP-major)";
    error.found = std::to_string(std::to_integer<int>(header[2]));
    return error;
  }
  return {};
}

Result<void> CheckSize(const std::string& path, uint64_t size, size_t num_variants,
                       size_t num_people) {
  const uint64_t expected =
      kHeaderBytes + uint64_t{num_variants} * bed::BytesPerVariant(num_people);
  if (size == expected) return {};
  Error error = InputError(
      size < expected ? "the file is too short" : "the file is too long", path,
      size < expected ? "The file is cut short, or its .bim or .fam belongs to another file."
                      : "The .bim or .fam belongs to another file.");
  error.found = std::to_string(size) + " bytes";
  error.expected = std::to_string(expected) + " bytes for " + std::to_string(num_variants) +
                   " variants (.bim) x " + std::to_string(num_people) + " people (.fam)";
  return error;
}

std::string PrefixOf(const std::string& path) {
  return path.ends_with(kExtension) ? path.substr(0, path.size() - kExtension.size()) : path;
}

}  // namespace

Result<std::unique_ptr<GenotypeSource>> OpenBed(const std::string& path, EventSink* events,
                                                FileEnv& env) try {
  const std::string prefix = PrefixOf(path);
  const std::string bed_path = prefix + std::string(kExtension);
  TALLELE_ASSIGN(auto file, env.OpenToRead(bed_path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  TALLELE_TRY(CheckMagic(*file, identity.size));
  TALLELE_ASSIGN(const std::string fam_path, bed::FindCompanion(prefix, ".fam"));
  TALLELE_ASSIGN(auto samples, bed::ReadFam(fam_path, env));
  TALLELE_ASSIGN(const std::string bim_path, bed::FindCompanion(prefix, ".bim"));
  TALLELE_ASSIGN(auto variants, bed::ReadBim(bim_path, env));
  TALLELE_TRY(CheckSize(bed_path, identity.size, variants.size(), samples.size()));
  if (events != nullptr) {
    events->Message(Severity::kDetail, "read " + bim_path + " and " + fam_path);
  }
  return std::unique_ptr<GenotypeSource>(
      new BedSource(std::move(file), env, identity, std::move(variants), std::move(samples)));
} catch (const std::bad_alloc&) {
  return IoError("not enough memory to index the file", path, ENOMEM);
}

}  // namespace tallele

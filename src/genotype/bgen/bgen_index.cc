#include "genotype/bgen/bgen_index.h"

#include <algorithm>
#include <limits>
#include <string>

#include "genotype/bgen/bgen_error.h"

namespace tallele::bgen {
namespace {

// Bytes of a file at a moving place: small reads after long jumps, large ones in between.
class Window {
 public:
  Window(const ReadableFile& file, uint64_t file_size) : file_(file), file_size_(file_size) {}

  // The `need` bytes at `offset`, valid until the next call.
  Result<const uint8_t*> Get(uint64_t offset, uint64_t need) {
    if (offset >= begin_ && offset - begin_ <= bytes_.size() &&
        bytes_.size() - (offset - begin_) >= need) {
      return Data(offset);
    }
    if (offset > file_size_ || need > file_size_ - offset) {
      return Damaged(file_.path(), file_size_, "the file ends inside a variant",
                     "the end of the file",
                     std::to_string(need) + " bytes at byte " + std::to_string(offset));
    }
    const bool near = offset <= begin_ + bytes_.size();
    const uint64_t wish = std::max(need, near ? kLargeRead : kSmallRead);
    bytes_.resize(std::min(wish, file_size_ - offset));
    begin_ = offset;
    TALLELE_TRY(file_.ReadAt(offset, bytes_));
    return Data(offset);
  }

 private:
  // A record's description, where its genotypes are longer than this: most of a larger read
  // would be thrown away.
  static constexpr uint64_t kSmallRead = 512;
  static constexpr uint64_t kLargeRead = uint64_t{1} << 14;

  const uint8_t* Data(uint64_t offset) const {
    return reinterpret_cast<const uint8_t*>(bytes_.data()) + (offset - begin_);
  }

  const ReadableFile& file_;
  uint64_t file_size_;
  uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
};

class Scanner {
 public:
  Scanner(const ReadableFile& file, const Header& header, uint64_t file_size)
      : path_(file.path()), header_(header), file_size_(file_size), window_(file, file_size) {}

  Result<Index> Scan() {
    Index index;
    index.variants.Reserve(header_.num_variants);
    index.payloads.reserve(header_.num_variants);
    at_ = header_.first_variant;
    index.first_record = at_;
    for (variant_ = 0; variant_ < header_.num_variants; ++variant_) {
      TALLELE_TRY(ScanRecord(index));
    }
    if (at_ != file_size_) {
      return Damaged(path_, at_, "bytes follow the last variant",
                     std::to_string(file_size_ - at_) + " more bytes", "the end of the file");
    }
    return index;
  }

 private:
  Error Bad(std::string what, std::string found = {}, std::string expected = {}) const {
    return Damaged(path_ + ", variant " + std::to_string(variant_ + 1), at_, std::move(what),
                   std::move(found), std::move(expected));
  }

  Result<void> Text(uint64_t length, std::string& out) {
    if (length > file_size_ - std::min(at_, file_size_)) {
      return Bad("a text is longer than the file", std::to_string(length) + " bytes");
    }
    TALLELE_ASSIGN(const uint8_t* p, window_.Get(at_, length));
    out.assign(reinterpret_cast<const char*>(p), length);
    if (!IsUtf8(out)) return Bad("an identifier, chromosome or allele is not valid UTF-8");
    at_ += length;
    return {};
  }

  Result<void> Text16(std::string& out) {
    TALLELE_ASSIGN(const uint8_t* p, window_.Get(at_, 2));
    const uint16_t length = LoadU16(p);
    at_ += 2;
    return Text(length, out);
  }

  Result<uint32_t> Number32() {
    TALLELE_ASSIGN(const uint8_t* p, window_.Get(at_, 4));
    at_ += 4;
    return LoadU32(p);
  }

  Result<void> ScanRecord(Index& index) {
    if (header_.layout == 1) {
      TALLELE_ASSIGN(const uint32_t people, Number32());
      if (people != header_.num_samples) {
        return Bad("the variant holds another number of samples than the header",
                   std::to_string(people), std::to_string(header_.num_samples));
      }
    }
    TALLELE_TRY(Text16(id_));
    TALLELE_TRY(Text16(rsid_));
    TALLELE_TRY(Text16(chromosome_));
    VariantRecord record;
    TALLELE_ASSIGN(record.position, Number32());
    if (header_.layout == 2) {
      TALLELE_ASSIGN(const uint8_t* p, window_.Get(at_, 2));
      record.num_alleles = LoadU16(p);
      at_ += 2;
    }
    for (uint32_t k = 0; k < record.num_alleles; ++k) {
      TALLELE_ASSIGN(const uint32_t length, Number32());
      TALLELE_TRY(Text(length, k == 0 ? first_ : k == 1 ? second_ : other_));
    }
    record.chromosome = chromosome_;
    record.id = rsid_.empty() ? id_ : rsid_;
    if (record.num_alleles > 0) record.first_allele = first_;
    if (record.num_alleles > 1) record.second_allele = second_;
    index.variants.Add(record);
    return ScanPayload(index);
  }

  Result<void> ScanPayload(Index& index) {
    PayloadLocation payload;
    const uint64_t layout1_bytes = uint64_t{6} * header_.num_samples;
    uint64_t stored = layout1_bytes;
    if (header_.layout == 2 || header_.compression != Compression::kNone) {
      TALLELE_ASSIGN(stored, Number32());
    }
    uint64_t inflated = header_.layout == 1 ? layout1_bytes : stored;
    if (header_.layout == 2 && header_.compression != Compression::kNone) {
      if (stored < 4)
        return Bad("the length of the genotypes is impossible", std::to_string(stored));
      TALLELE_ASSIGN(inflated, Number32());
      stored -= 4;
    }
    if (stored > file_size_ - at_) {
      return Bad("the genotypes reach past the end of the file", std::to_string(stored) + " bytes",
                 "at most " + std::to_string(file_size_ - at_));
    }
    if (inflated > std::numeric_limits<uint32_t>::max())
      return Bad("too many samples for layout 1");
    payload.offset = at_;
    payload.stored = static_cast<uint32_t>(stored);
    payload.inflated = static_cast<uint32_t>(inflated);
    index.payloads.push_back(payload);
    at_ += stored;
    return {};
  }

  std::string path_;
  const Header& header_;
  uint64_t file_size_;
  Window window_;
  uint64_t at_ = 0;
  uint64_t variant_ = 0;
  std::string id_, rsid_, chromosome_, first_, second_, other_;
};

}  // namespace

Result<Index> ScanVariants(const ReadableFile& file, const Header& header, uint64_t file_size) {
  return Scanner(file, header, file_size).Scan();
}

}  // namespace tallele::bgen

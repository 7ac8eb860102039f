#include <array>

#include <fmt/format.h>

#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kLargestFile = 0xfffffffe;  // 32-bit offsets; longer files need ZIP64

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? c >> 1 ^ 0xedb88320u : c >> 1;
    table[i] = c;
  }
  return table;
}

// Continues a checksum, 0 for the first bytes.
uint32_t Crc32(uint32_t crc, std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  crc = ~crc;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

void Put(std::string& out, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

// What local headers and directory entries share: version 2.0, names in UTF-8, stored, 1 January
// 1980, checksum, sizes, length of the name.
void PutCommon(std::string& out, uint32_t crc, uint64_t size, size_t name_length) {
  Put(out, 20, 2);
  Put(out, 0x800, 2);
  Put(out, 0, 2);
  Put(out, 0, 2);
  Put(out, 0x21, 2);
  Put(out, crc, 4);
  Put(out, size, 4);
  Put(out, size, 4);
  Put(out, name_length, 2);
}

}  // namespace

Result<StoredZipWriter> StoredZipWriter::Create(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(auto file, AtomicFile::Create(path, env));
  return StoredZipWriter(std::move(file));
}

Result<void> StoredZipWriter::Append(std::string_view bytes) {
  if (bytes.size() > kLargestFile - offset_) {
    return UnsupportedError("an archive of more than 4 GiB cannot be written", file_->path());
  }
  offset_ += bytes.size();
  return file_->Append(bytes);
}

Result<void> StoredZipWriter::Add(std::string_view name, std::string_view content) {
  TALLELE_TRY(BeginMember(name, Crc32(0, content), content.size()));
  return Append(content);
}

Result<void> StoredZipWriter::AddInPieces(
    std::string_view name, const std::function<Result<void>(const PieceSink&)>& produce) {
  uint32_t crc = 0;
  uint64_t size = 0;
  TALLELE_TRY(produce([&](std::string_view piece) -> Result<void> {
    crc = Crc32(crc, piece);
    size += piece.size();
    return {};
  }));
  TALLELE_TRY(BeginMember(name, crc, size));
  return produce([&](std::string_view piece) { return Append(piece); });
}

Result<void> StoredZipWriter::BeginMember(std::string_view name, uint32_t crc, uint64_t size) {
  if (size > kLargestFile) {
    return UnsupportedError("an archive of more than 4 GiB cannot be written", file_->path());
  }
  entries_.push_back({std::string(name), crc, size, offset_});
  std::string header;
  Put(header, 0x04034b50, 4);
  PutCommon(header, crc, size, name.size());
  // An extra field of the private kind "FB", as PyTorch writes it, pads the start of the bytes.
  const uint64_t bare = offset_ + header.size() + 2 + name.size() + 4;
  const uint64_t padding = (kAlignment - bare % kAlignment) % kAlignment;
  Put(header, padding + 4, 2);
  header += name;
  Put(header, 0x4246, 2);
  Put(header, padding, 2);
  header.append(padding, 'Z');
  return Append(header);
}

Result<void> StoredZipWriter::Finish() {
  const uint64_t start = offset_;
  for (const Entry& entry : entries_) {
    std::string record;
    Put(record, 0x02014b50, 4);
    Put(record, 20, 2);
    PutCommon(record, entry.crc, entry.size, entry.name.size());
    Put(record, 0, 2);  // no extra field, no comment, first disk, no attributes
    Put(record, 0, 2);
    Put(record, 0, 2);
    Put(record, 0, 2);
    Put(record, 0, 4);
    Put(record, entry.offset, 4);
    TALLELE_TRY(Append(record + entry.name));
  }
  if (entries_.size() > 0xfffe) {
    return UnsupportedError("an archive of more than 65,534 members cannot be written",
                            file_->path());
  }
  const uint64_t size = offset_ - start;
  std::string end;
  Put(end, 0x06054b50, 4);
  Put(end, 0, 4);
  Put(end, entries_.size(), 2);
  Put(end, entries_.size(), 2);
  Put(end, size, 4);
  Put(end, start, 4);
  Put(end, 0, 2);
  TALLELE_TRY(Append(end));
  return file_->Commit();
}

}  // namespace tallele

#include "genotype/packed/packed_store.h"

#include <algorithm>
#include <cstring>

#include "kernels/packed_products.h"

namespace tallele {
namespace {

constexpr std::string_view kMagic = "TALLPK01";
constexpr size_t kStartBytes = 64;  // magic, people, SNPs, stride; zeros
constexpr size_t kFooterBytes = 64 + 64 + 8 + 8;
constexpr size_t kVerifyBytes = 8 << 20;

void PutNumber(uint64_t value, std::string& out) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t GetNumber(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

std::string StartOf(uint64_t num_people, uint64_t num_snps, uint64_t stride) {
  std::string start(kMagic);
  for (const uint64_t value : {num_people, num_snps, stride}) PutNumber(value, start);
  start.resize(kStartBytes, '\0');
  return start;
}

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Name and content of each section, lengths first.
std::string PackSections(const std::map<std::string, std::string>& sections) {
  std::string out;
  for (const auto& [name, content] : sections) {
    PutNumber(name.size(), out);
    PutNumber(content.size(), out);
    out += name;
    out += content;
  }
  return out;
}

// False when the lengths do not fit.
bool UnpackSections(std::string_view bytes, std::map<std::string, std::string>& sections) {
  while (!bytes.empty()) {
    if (bytes.size() < 16) return false;
    const uint64_t name = GetNumber(bytes), content = GetNumber(bytes.substr(8));
    bytes.remove_prefix(16);
    if (name > bytes.size() || content > bytes.size() - name) return false;
    sections[std::string(bytes.substr(0, name))] = bytes.substr(name, content);
    bytes.remove_prefix(name + content);
  }
  return true;
}

}  // namespace

void PadPackedRow(size_t num_snps, std::span<uint8_t> row) {
  size_t at = num_snps / 4;
  if (num_snps % 4 != 0) row[at++] |= static_cast<uint8_t>(0xff << (2 * (num_snps % 4)));
  std::fill(row.begin() + static_cast<ptrdiff_t>(at), row.end(), uint8_t{0xff});
}

std::string JoinLines(std::span<const std::string> lines) {
  std::string out;
  for (const std::string& line : lines) (out += line) += '\n';
  return out;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Error PackedStore::Damaged(const std::string& what) const {
  return InputError(what, file_->path(), "Make the packed file again.");
}

Result<PackedStore> PackedStore::Open(const std::string& path, FileEnv& env) {
  PackedStore store;
  TALLELE_ASSIGN(store.file_, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, store.file_->Identity());
  TALLELE_TRY(store.ReadStart(identity.size));
  TALLELE_TRY(store.ReadEnd(identity.size));
  return store;
}

Result<void> PackedStore::ReadStart(uint64_t file_size) {
  if (file_size < kStartBytes + kFooterBytes) return Damaged("this is no packed genotype file");
  std::string start(kStartBytes, '\0');
  TALLELE_TRY(file_->ReadAt(0, std::as_writable_bytes(std::span(start))));
  if (!start.starts_with(kMagic)) {
    Error error = Damaged("this is no packed genotype file");
    error.expected = std::string(kMagic) + " at its start";
    return error;
  }
  header_.num_people = GetNumber(std::string_view(start).substr(8));
  header_.num_snps = GetNumber(std::string_view(start).substr(16));
  stride_ = GetNumber(std::string_view(start).substr(24));
  if (header_.num_snps > kMostPackedSnps || stride_ != PackedRowStride(header_.num_snps) ||
      (stride_ > 0 && header_.num_people > file_size / stride_)) {
    return Damaged("the header's numbers of people and SNPs do not fit the file");
  }
  return {};
}

Result<void> PackedStore::ReadEnd(uint64_t file_size) {
  std::string footer(kFooterBytes, '\0');
  TALLELE_TRY(file_->ReadAt(file_size - kFooterBytes, std::as_writable_bytes(std::span(footer))));
  const uint64_t size = GetNumber(std::string_view(footer).substr(128));
  const uint64_t rows = header_.num_people * stride_;
  if (footer.substr(136) != kMagic || size > file_size ||
      kStartBytes + rows + size + kFooterBytes != file_size) {
    Error error = Damaged("the packed genotype file is cut short or has grown");
    error.found = std::to_string(file_size) + " bytes";
    return error;
  }
  std::string sections(size, '\0');
  TALLELE_TRY(file_->ReadAt(kStartBytes + rows, std::as_writable_bytes(std::span(sections))));
  rows_checksum_ = footer.substr(0, 64);
  const std::string start = StartOf(header_.num_people, header_.num_snps, stride_);
  if (Sha256Hex(start + rows_checksum_ + sections) != footer.substr(64, 64) ||
      !UnpackSections(sections, header_.sections)) {
    return Damaged("the packed genotype file is damaged: its checksum does not agree");
  }
  return {};
}

Result<std::string> PackedStore::Section(const std::string& name) const {
  const auto found = header_.sections.find(name);
  if (found == header_.sections.end()) return Damaged("the packed file lacks its part " + name);
  return found->second;
}

Result<void> PackedStore::Read(size_t first, size_t count, std::span<uint8_t> rows) const {
  if (first > num_people() || count > num_people() - first || rows.size() < count * stride_) {
    return InternalError("rows outside a packed store were asked for");
  }
  return file_->ReadAt(kStartBytes + uint64_t{first} * stride_,
                       std::as_writable_bytes(rows.first(count * stride_)));
}

Result<void> PackedStore::VerifyRows() const {
  const size_t step = std::max<size_t>(1, kVerifyBytes / std::max<size_t>(1, stride_));
  std::vector<uint8_t> rows(std::min(step, num_people()) * stride_);
  Sha256 checksum;
  for (size_t first = 0; first < num_people(); first += step) {
    const size_t count = std::min(step, num_people() - first);
    TALLELE_TRY(Read(first, count, rows));
    checksum.Update(AsText(std::span(rows).first(count * stride_)));
  }
  if (checksum.HexDigest() != rows_checksum_) {
    return Damaged("the packed genotypes are damaged: their checksum does not agree");
  }
  return {};
}

Result<PackedStoreWriter> PackedStoreWriter::Create(const std::string& path, uint64_t num_people,
                                                    uint64_t num_snps, FileEnv& env) {
  PackedStoreWriter writer;
  writer.num_people_ = num_people;
  writer.num_snps_ = num_snps;
  writer.stride_ = PackedRowStride(num_snps);
  TALLELE_ASSIGN(writer.file_, AtomicFile::Create(path, env));
  writer.start_ = StartOf(num_people, num_snps, writer.stride_);
  TALLELE_TRY(writer.file_->Append(writer.start_));
  return writer;
}

Result<void> PackedStoreWriter::Append(std::span<uint8_t> rows) {
  if (stride_ == 0 || rows.size() % stride_ != 0) {
    return InternalError("packed rows of a wrong width");
  }
  for (size_t at = 0; at < rows.size(); at += stride_) {
    PadPackedRow(num_snps_, rows.subspan(at, stride_));
  }
  num_written_ += rows.size() / stride_;
  rows_.Update(AsText(rows));
  return file_->Append(AsText(rows));
}

Result<void> PackedStoreWriter::Commit(const std::map<std::string, std::string>& sections) {
  if (num_written_ != num_people_) return InternalError("packed rows are missing");
  const std::string packed = PackSections(sections);
  const std::string rows_checksum = rows_.HexDigest();
  std::string footer = rows_checksum + Sha256Hex(start_ + rows_checksum + packed);
  PutNumber(packed.size(), footer);
  footer += kMagic;
  TALLELE_TRY(file_->Append(packed));
  TALLELE_TRY(file_->Append(footer));
  return file_->Commit();
}

}  // namespace tallele

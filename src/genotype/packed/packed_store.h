#ifndef TALLELE_GENOTYPE_PACKED_PACKED_STORE_H_
#define TALLELE_GENOTYPE_PACKED_PACKED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/file_env.h"
#include "base/hashing.h"
#include "base/result.h"

namespace tallele {

// What a packed store says about itself besides its rows (docs/formats/packed-store.md).
struct PackedStoreHeader {
  uint64_t num_people = 0;
  uint64_t num_snps = 0;
  // Named texts and lists, kept as bytes: "source", "people", "snps" ...
  std::map<std::string, std::string> sections;
};

// A file of 2-bit genotype rows, one person each, as the kernels read them
// (kernels/packed_products.h): codes 0, 1, 2 copies and 3 missing, rows at
// PackedRowStride(num_snps) bytes, padded with missing calls. Safe for many threads.
class PackedStore {
 public:
  // Checks the file's size, structure and the checksum of everything but the rows.
  static Result<PackedStore> Open(const std::string& path, FileEnv& env = PosixFileEnv());

  const std::string& path() const { return file_->path(); }
  size_t num_people() const { return header_.num_people; }
  size_t num_snps() const { return header_.num_snps; }
  size_t stride() const { return stride_; }
  // A named part; an error that names it when the store has none.
  Result<std::string> Section(const std::string& name) const;
  // SHA-256 of all rows, 64 digits: the same for the same genotypes in the same order.
  const std::string& rows_checksum() const { return rows_checksum_; }

  // Rows first .. first+count-1; `rows` holds count * stride() bytes.
  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const;

  // Reads every row and compares with the checksum.
  Result<void> VerifyRows() const;

 private:
  PackedStore() = default;
  Result<void> ReadStart(uint64_t file_size);
  Result<void> ReadEnd(uint64_t file_size);
  Error Damaged(const std::string& what) const;

  std::unique_ptr<ReadableFile> file_;
  PackedStoreHeader header_;
  size_t stride_ = 0;
  std::string rows_checksum_;
};

// Writes a store from its first row to its last; it appears under its name at `Commit`.
class PackedStoreWriter {
 public:
  static Result<PackedStoreWriter> Create(const std::string& path, uint64_t num_people,
                                          uint64_t num_snps, FileEnv& env = PosixFileEnv());

  // The next rows, PackedRowStride(num_snps) bytes each. What lies beyond the last SNP is
  // replaced by missing calls, so that equal genotypes give equal files.
  Result<void> Append(std::span<uint8_t> rows);

  // An error unless all rows came.
  Result<void> Commit(const std::map<std::string, std::string>& sections);

 private:
  PackedStoreWriter() = default;

  std::unique_ptr<AtomicFile> file_;
  uint64_t num_people_ = 0;
  uint64_t num_snps_ = 0;
  uint64_t num_written_ = 0;
  size_t stride_ = 0;
  std::string start_;
  Sha256 rows_;
};

// Sets the 2-bit codes from `num_snps` to the end of a row of `stride` bytes to missing.
void PadPackedRow(size_t num_snps, std::span<uint8_t> row);

// A list of texts without tabs and line ends, one a line; and back.
std::string JoinLines(std::span<const std::string> lines);
std::vector<std::string> SplitLines(const std::string& text);

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_PACKED_PACKED_STORE_H_

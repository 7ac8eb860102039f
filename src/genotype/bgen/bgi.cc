#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "genotype/bgen/bgen_error.h"
#include "genotype/bgen/bgen_index.h"

namespace tallele::bgen {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

Error Stale(const std::string& bgi_path, std::string what, std::string found = {},
            std::string expected = {}) {
  Error error = InputError(std::move(what), bgi_path,
                           "The index belongs to another file or an older one; make it again with "
                           "bgenix, or remove it (tallele does not need it).");
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

// Read-only and immutable: SQLite then makes no lock or journal file beside the index.
Result<Database> Open(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char kDigits[] = "0123456789ABCDEF";
      uri += {'%', kDigits[static_cast<uint8_t>(c) >> 4], kDigits[c & 15]};
    } else {
      uri += c;
    }
  }
  uri += "?immutable=1";
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return Stale(path, "cannot open the index", sqlite3_errstr(code));
  return database;
}

Result<Statement> Prepare(sqlite3* database, const std::string& path, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK) {
    return Stale(path, "this is not a BGENIX index", sqlite3_errmsg(database));
  }
  return Statement(raw);
}

std::string_view Text(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr
             ? std::string_view()
             : std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(row, column)));
}

// The Metadata table is absent from old indexes.
Result<void> CheckMetadata(sqlite3* database, const std::string& path, const ReadableFile& file,
                           uint64_t file_size) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT file_size, first_1000_bytes FROM Metadata", -1, &raw,
                         nullptr) != SQLITE_OK) {
    return {};
  }
  const Statement row(raw);
  if (sqlite3_step(raw) != SQLITE_ROW) return {};
  const auto recorded = static_cast<uint64_t>(sqlite3_column_int64(raw, 0));
  if (recorded != file_size) {
    return Stale(path, "the index was made for a file of another size", std::to_string(recorded),
                 std::to_string(file_size) + " bytes");
  }
  const auto length = static_cast<size_t>(sqlite3_column_bytes(raw, 1));
  const auto* recorded_bytes = static_cast<const std::byte*>(sqlite3_column_blob(raw, 1));
  if (recorded_bytes == nullptr || length > file_size || length > 1000) return {};
  std::vector<std::byte> head(length);
  TALLELE_TRY(file.ReadAt(0, head));
  if (!std::equal(head.begin(), head.end(), recorded_bytes)) {
    return Stale(path, "the index was made for a file that begins with other bytes");
  }
  return {};
}

// What a row of the index says otherwise than the file's record at `start`; null when nothing.
const char* OtherColumn(sqlite3_stmt* row, const VariantRecord& record, uint64_t start,
                        uint64_t end) {
  if (sqlite3_column_int64(row, 0) != static_cast<int64_t>(start)) return "place";
  if (sqlite3_column_int64(row, 1) != static_cast<int64_t>(end - start)) return "length";
  if (Text(row, 2) != record.chromosome) return "chromosome";
  if (sqlite3_column_int64(row, 3) != record.position) return "position";
  // A record without rsid goes by its other identifier, which the index does not hold.
  if (!Text(row, 4).empty() && Text(row, 4) != record.id) return "rsid";
  if (sqlite3_column_int64(row, 5) != record.num_alleles) return "number of alleles";
  if (Text(row, 6) != record.first_allele) return "first allele";
  if (record.num_alleles > 1 && Text(row, 7) != record.second_allele) return "second allele";
  return nullptr;
}

}  // namespace

Result<void> CheckBgi(const std::string& bgi_path, const ReadableFile& file, uint64_t file_size,
                      const Index& index) {
  TALLELE_ASSIGN(const Database database, Open(bgi_path));
  TALLELE_TRY(CheckMetadata(database.get(), bgi_path, file, file_size));
  TALLELE_ASSIGN(const Statement rows,
                 Prepare(database.get(), bgi_path,
                         "SELECT file_start_position, size_in_bytes, chromosome, position, rsid, "
                         "number_of_alleles, allele1, allele2 FROM Variant "
                         "ORDER BY file_start_position"));
  size_t variant = 0;
  uint64_t start = index.first_record;
  int code = SQLITE_ROW;
  for (; (code = sqlite3_step(rows.get())) == SQLITE_ROW; ++variant) {
    if (variant == index.payloads.size()) {
      return Stale(bgi_path, "the index lists more variants than the file has", "more",
                   std::to_string(index.payloads.size()));
    }
    const VariantRecord record = index.variants[variant];
    const uint64_t end = index.payloads[variant].offset + index.payloads[variant].stored;
    const char* other = OtherColumn(rows.get(), record, start, end);
    if (other != nullptr) {
      return Stale(bgi_path, "the index disagrees with the file about the " + std::string(other) +
                                 " of variant " + std::to_string(variant + 1) + " (" +
                                 std::string(record.id) + ")");
    }
    start = end;
  }
  if (code != SQLITE_DONE) return Stale(bgi_path, "cannot read the index", sqlite3_errstr(code));
  if (variant != index.payloads.size()) {
    return Stale(bgi_path, "the index lists fewer variants than the file has",
                 std::to_string(variant), std::to_string(index.payloads.size()));
  }
  return {};
}

}  // namespace tallele::bgen

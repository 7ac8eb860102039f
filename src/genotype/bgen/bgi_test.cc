#include <gtest/gtest.h>
#include <sqlite3.h>

#include "genotype/bgen/bgen_bytes.h"
#include "tests/support/fixtures.h"

namespace tallele::bgen_bytes {
namespace {

class Warnings final : public EventSink {
 public:
  void Message(Severity severity, std::string_view text) override {
    if (severity == Severity::kWarning) texts.emplace_back(text);
  }
  void Progress(const ProgressReport&) override {}
  std::vector<std::string> texts;
};

File ThreeVariants() {
  File file;
  file.num_samples = 2;
  file.compression = 1;
  Variant v;
  v.calls = {{2, false, 255, 0}, {2, false, 0, 255}};
  file.variants = {v, v, v};
  file.variants[1].rsid = "";
  file.variants[2].alleles = {"A", "C", "G"};
  file.variants[2].position = 2;
  return file;
}

void Execute(sqlite3* database, const std::string& sql) {
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
}

// An index in BGENIX's own table layout, then `change` applied to it.
void WriteBgi(const std::string& path, const File& file, const std::string& change) {
  std::remove(path.c_str());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  Execute(database,
          "CREATE TABLE Variant (chromosome TEXT NOT NULL, position INT NOT NULL, rsid TEXT NOT "
          "NULL, number_of_alleles INT NOT NULL, allele1 TEXT NOT NULL, allele2 TEXT NULL, "
          "file_start_position INT NOT NULL, size_in_bytes INT NOT NULL, PRIMARY KEY (chromosome, "
          "position, rsid, allele1, allele2, file_start_position)) WITHOUT ROWID");
  Execute(database,
          "CREATE TABLE Metadata (filename TEXT NOT NULL, file_size INT NOT NULL, last_write_time "
          "INT NOT NULL, first_1000_bytes BLOB NOT NULL, index_creation_time INT NOT NULL)");
  const std::string bytes = FileBytes(file);
  std::string hex;
  for (const char c : bytes.substr(0, 1000)) {
    hex += "0123456789ABCDEF"[static_cast<uint8_t>(c) >> 4];
    hex += "0123456789ABCDEF"[c & 15];
  }
  Execute(database, "INSERT INTO Metadata VALUES ('f', " + std::to_string(bytes.size()) +
                        ", 0, X'" + hex + "', 0)");
  size_t start = 24;
  for (const Variant& v : file.variants) {
    const size_t size = RecordBytes(file, v).size();
    Execute(database, "INSERT INTO Variant VALUES ('" + v.chromosome + "', " +
                          std::to_string(v.position) + ", '" + v.rsid + "', " +
                          std::to_string(v.alleles.size()) + ", '" + v.alleles[0] + "', '" +
                          v.alleles[1] + "', " + std::to_string(start) + ", " +
                          std::to_string(size) + ")");
    start += size;
  }
  if (!change.empty()) Execute(database, change);
  sqlite3_close(database);
}

// Every column that locates or names a variant is compared with the file's own record. The same
// index is an error when the user named it, a warning when it merely lies there.
TEST(BgiIndex, EveryDisagreementIsNamed) {
  const std::pair<const char*, const char*> changes[] = {
      {"", ""},
      {"DROP TABLE Metadata", ""},  // as in old indexes
      {"UPDATE Metadata SET file_size = 7", "another size"},
      {"UPDATE Metadata SET first_1000_bytes = X'00'", "begins with other bytes"},
      {"UPDATE Variant SET file_start_position = 25 WHERE file_start_position = 24",
       "place of variant 1 (rs)"},
      {"UPDATE Variant SET size_in_bytes = 9 WHERE rsid = ''", "length of variant 2 (v)"},
      {"UPDATE Variant SET chromosome = '2' WHERE position = 2", "chromosome of variant 3"},
      {"UPDATE Variant SET position = 5 WHERE rsid = ''", "position of variant 2"},
      {"UPDATE Variant SET rsid = 'other' WHERE position = 2", "rsid of variant 3"},
      {"UPDATE Variant SET number_of_alleles = 2", "number of alleles of variant 3"},
      {"UPDATE Variant SET allele1 = 'T' WHERE rsid = ''", "first allele of variant 2"},
      {"UPDATE Variant SET allele2 = 'T' WHERE rsid = ''", "second allele of variant 2"},
      {"DELETE FROM Variant WHERE position = 2", "fewer variants"},
      {"INSERT INTO Variant VALUES ('1', 9, 'x', 2, 'A', 'C', 99999, 9)", "more variants"},
      {"DROP TABLE Variant", "not a BGENIX index"},
  };
  TempDir dir;
  const File file = ThreeVariants();
  const std::string path = dir.Write("f.bgen", FileBytes(file));
  for (const auto& [change, expected] : changes) {
    SCOPED_TRACE(change);
    WriteBgi(path + ".bgi", file, change);
    Warnings warnings;
    BgenOptions options;
    options.events = &warnings;
    const auto beside = OpenBgen(path, options);
    ASSERT_TRUE(beside.ok()) << beside.error().Message();
    EXPECT_EQ((*beside)->variants().size(), 3u);
    options.bgi = path + ".bgi";
    const auto named = OpenBgen(path, options);
    if (*expected == '\0') {
      EXPECT_TRUE(named.ok()) << named.error().Message();
      EXPECT_TRUE(warnings.texts.empty());
      continue;
    }
    ASSERT_FALSE(named.ok());
    EXPECT_NE(named.error().Message().find(expected), std::string::npos) << named.error().Message();
    EXPECT_NE(named.error().Message().find(path + ".bgi"), std::string::npos);
    ASSERT_EQ(warnings.texts.size(), 1u);
    EXPECT_NE(warnings.texts[0].find(expected), std::string::npos) << warnings.texts[0];
  }
}

TEST(BgiIndex, AnIndexThatIsAbsentOrNoDatabaseIsAnErrorWhenNamed) {
  TempDir dir;
  BgenOptions options;
  const std::string path = dir.Write("f.bgen", FileBytes(ThreeVariants()));
  options.bgi = dir.File("absent.bgi");
  EXPECT_FALSE(OpenBgen(path, options).ok());
  options.bgi = dir.Write("text.bgi", std::string(4096, 'x'));
  EXPECT_FALSE(OpenBgen(path, options).ok());
}

// Indexes that the format's authors made with BGENIX.
TEST(BgiIndex, TheReferenceIndexesFit) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "the shared fixtures are not beside this clone";
  for (const char* name : {"example.16bits.bgen", "example.8bits.bgen", "haplotypes.bgen"}) {
    const std::string path = (*shared / "bgen-example" / name).string();
    BgenOptions options;
    options.bgi = path + ".bgi";
    const auto source = OpenBgen(path, options);
    EXPECT_TRUE(source.ok()) << source.error().Message();
    options.bgi.clear();
    Warnings warnings;
    options.events = &warnings;
    EXPECT_TRUE(OpenBgen(path, options).ok());
    EXPECT_TRUE(warnings.texts.empty());
  }
}

}  // namespace
}  // namespace tallele::bgen_bytes

#include "cohort/text_table.h"

#include <gtest/gtest.h>

#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using namespace std::string_literals;
using Rows = std::vector<std::vector<std::string>>;

// gzip of "FID IID A\nF P1 1\nF P2 2.5\n", made by Python's gzip module.
const std::string kGzipTable =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x73\xf3\x74\x51\xf0\x04\x62\x47\x2e\x37\x85\x00"
    "\x43\x05\x43\x10\x65\xa4\x60\xa4\x67\xca\x05\x00\xf3\xff\x80\x00\x1a\x00\x00\x00"s;

class TableFile : public testing::Test {
 protected:
  // All rows as FID, IID and cells; an error ends the test.
  Rows Read(const std::string& text) {
    auto table = TextTable::Open(dir_.Write("table", text));
    EXPECT_TRUE(table.ok()) << table.error().Message();
    Rows rows;
    TableRow row;
    while (table.ok()) {
      auto more = (*table)->Next(&row);
      EXPECT_TRUE(more.ok()) << more.error().Message();
      if (!more.ok() || !*more) break;
      rows.push_back({std::string(row.fid), std::string(row.iid)});
      rows.back().insert(rows.back().end(), row.cells.begin(), row.cells.end());
    }
    return rows;
  }
  // The message of the first error, in the header or a row; empty if there is none.
  std::string Message(const std::string& text) {
    auto table = TextTable::Open(dir_.Write("table", text));
    if (!table.ok()) return table.error().Message();
    TableRow row;
    while (true) {
      auto more = (*table)->Next(&row);
      if (!more.ok()) return more.error().Message();
      if (!*more) return "";
    }
  }
  std::string ColumnMessage(const std::string& header, const std::string& name) {
    auto table = TextTable::Open(dir_.Write("table", header));
    EXPECT_TRUE(table.ok()) << table.error().Message();
    auto column = (*table)->Column(name);
    return column.ok() ? "" : column.error().Message();
  }

  TempDir dir_;
};

// Every way to write the same table that other programs write.
TEST_F(TableFile, SpellingsOfOneTableAreOne) {
  const Rows expected = {{"F", "P1", "1"}, {"F", "P2", "2.5"}};
  for (const std::string& text :
       {"FID IID A\nF P1 1\nF P2 2.5\n"s, "#FID  IID   A\n F P1\t1 \nF\tP2   2.5"s,
        "FID\tIID\tA\r\nF\tP1\t1\r\n\r\nF\tP2\t 2.5 \r\n\t\t\r\n"s,
        "\xEF\xBB\xBF#FID\tIID\tA\nF\tP1\t1\nF\tP2\t2.5\n\n\n"s, kGzipTable}) {
    EXPECT_EQ(Read(text), expected) << text;
  }
}

// Blanks inside a cell and empty cells survive where the header has tabs, and only there.
TEST_F(TableFile, TabsInTheHeaderMakeTabsTheOnlySeparator) {
  EXPECT_EQ(Read("FID\tIID\tA\tB\nF\tP1\t\tnew york\n"), (Rows{{"F", "P1", "", "new york"}}));
  EXPECT_NE(Message("FID\tIID\tA\nF P1 1\n").find("split at tabs"), std::string::npos);
  EXPECT_NE(Message("FID IID A B\nF\tP1\t\t2\n").find("before column B"), std::string::npos);
}

TEST_F(TableFile, IidAloneStandsForBoth) {
  for (const char* text : {"IID A\nP1 1\n", "#IID A\nP1 1\n", "IID\tA\nP1\t1\n"}) {
    EXPECT_EQ(Read(text), (Rows{{"P1", "P1", "1"}})) << text;
  }
}

// `IID FID`, or two tables pasted side by side, must not turn identifiers into a trait.
TEST_F(TableFile, HeadersThatMisplaceIdentifiersAreRefused) {
  EXPECT_NE(Message("IID FID A\nP F 1\n").find("column 2"), std::string::npos);
  EXPECT_NE(Message("FID IID A FID IID B\nF P 1 F P 2\n").find("names FID"), std::string::npos);
  EXPECT_NE(Message("fid iid A\nF P 1\n").find("found fid iid, expected FID IID"),
            std::string::npos);
  EXPECT_NE(Message("A FID IID\n1 F P\n").find("expected FID IID"), std::string::npos);
  EXPECT_NE(Message("").find("empty"), std::string::npos);
  EXPECT_NE(Message("\nFID IID A\n").find("line 1"), std::string::npos);
}

TEST_F(TableFile, RaggedRowsAreNamed) {
  const std::string cut = Message("FID IID A B\nF P1 1 2\nF P2 1\n");
  for (const char* part : {"line 3", "column B", "found 3 fields, expected 4"}) {
    EXPECT_NE(cut.find(part), std::string::npos) << cut;
  }
  EXPECT_NE(Message("FID IID A\nF P1 1 2\n").find("found 4 fields, expected 3"), std::string::npos);
  EXPECT_NE(Message("FID IID A\nF\n").find("found 1 fields"), std::string::npos);
  EXPECT_NE(Message("FID\tIID\tA\n\tP1\t1\n").find("identifier is empty"), std::string::npos);
  EXPECT_NE(Message("FID IID A\nF P1 1\nF P2 2\nF P1 3\n").find("line 2"), std::string::npos);
}

// Names that stand twice matter only where they are used; a wrong name is answered with the one
// that was meant, however many columns there are.
TEST_F(TableFile, ColumnsAreFoundByExactName) {
  EXPECT_EQ(ColumnMessage("FID IID A A B\n", "B"), "");
  EXPECT_NE(ColumnMessage("FID IID A A B\n", "A").find("twice"), std::string::npos);
  EXPECT_NE(ColumnMessage("FID\tIID\tA\t\n", "").find("column 4 has no name"), std::string::npos);
  EXPECT_NE(ColumnMessage("FID IID\n", "A").find("no column A"), std::string::npos);
  std::string wide = "FID IID";
  for (int i = 100; i < 400; ++i) wide += " protein" + std::to_string(i);
  EXPECT_NE(ColumnMessage(wide + " height\n", "heigth").find("Nearest is height."),
            std::string::npos);
  EXPECT_NE(ColumnMessage("FID IID bmi\n", "BMI").find("Nearest is bmi."), std::string::npos);
}

TEST_F(TableFile, ADamagedGzipFileIsAnError) {
  EXPECT_NE(Message(kGzipTable.substr(0, kGzipTable.size() - 8)).find("damaged or cut"),
            std::string::npos);
}

// The same table stored both ways by REGENIE's authors.
TEST(TableFixture, GzipAndPlainAreTheSame) {
  const auto fixtures = SharedFixtures();
  if (!fixtures) GTEST_SKIP() << "needs the shared fixtures";
  const std::string path = (*fixtures / "regenie-example/covariates.txt").string();
  auto plain = TextTable::Open(path);
  auto packed = TextTable::Open(path + ".gz");
  ASSERT_TRUE(plain.ok() && packed.ok());
  TableRow a, b;
  size_t rows = 0;
  while (true) {
    auto more_a = (*plain)->Next(&a);
    auto more_b = (*packed)->Next(&b);
    ASSERT_TRUE(more_a.ok() && more_b.ok());
    ASSERT_EQ(*more_a, *more_b);
    if (!*more_a) break;
    ++rows;
    ASSERT_EQ(a.iid, b.iid);
    ASSERT_TRUE(std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end()));
  }
  EXPECT_EQ(rows, 500u);
}

TEST(MissingTokens, AreTheseAlone) {
  for (const char* token : {"", "NA", "NaN", "nan", "."}) EXPECT_TRUE(IsBuiltInMissing(token));
  for (const char* token : {"-9", "na", "N/A", "NAN", "-", "0"}) {
    EXPECT_FALSE(IsBuiltInMissing(token)) << token;
  }
}

}  // namespace
}  // namespace tallele

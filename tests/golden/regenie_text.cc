#include "tests/golden/regenie_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace tallele::golden {
namespace {

constexpr double kRelative = 2e-5;
constexpr double kCorrectedRelative = 1e-4;
constexpr int kMostMessages = 10;

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool IsNumber(const std::string& column) {
  static const std::set<std::string> kNumbers = {
      "A1FREQ", "A1FREQ_CASES", "A1FREQ_CONTROLS", "INFO", "BETA", "SE", "CHISQ", "LOG10P"};
  return kNumbers.contains(column.substr(0, column.find('.')));
}

bool Agrees(const std::string& name, double found, double expected, double se, double relative) {
  const std::string column = name.substr(0, name.find('.'));
  const double difference = std::fabs(found - expected);
  if (difference <= relative * std::fabs(expected)) return true;
  if (column == "BETA") return difference <= 1e-6 * se;
  if (column == "CHISQ" || column == "LOG10P") return difference <= 1e-7;
  return false;
}

// Decisions at p < 0.05 and p < 5e-8.
int Decision(double log10p) { return (log10p > -std::log10(0.05)) + (log10p > -std::log10(5e-8)); }

// Identifiers of rows that the other file lacks, the first few.
std::string IdsOnlyIn(const RegenieText& text, const RegenieText& other) {
  std::set<std::string> known;
  for (const auto& row : other.rows) known.insert(row.at("ID"));
  std::string ids;
  int count = 0;
  for (const auto& row : text.rows) {
    if (known.contains(row.at("ID")) || ++count > kMostMessages) continue;
    ids += row.at("ID") + " (A1FREQ " + row.at("A1FREQ") + ", N " + row.at("N") + ") ";
  }
  return ids;
}

std::string Difference(const std::map<std::string, std::string>& found,
                       const std::map<std::string, std::string>& expected, double relative) {
  for (const auto& [column, text] : expected) {
    const std::string& own = found.at(column);
    if (own == text) continue;
    const bool missing = own == "NA" || text == "NA";
    const bool numbers = IsNumber(column) && !missing;
    const auto se_text = expected.find("SE");
    const bool has_se = se_text != expected.end() && se_text->second != "NA";
    const double se = has_se ? std::stod(se_text->second) : 0;
    if (numbers && Agrees(column, std::stod(own), std::stod(text), se, relative)) continue;
    return column + " is " + own + ", expected " + text;
  }
  if (expected.contains("LOG10P") && expected.at("LOG10P") != "NA" &&
      Decision(std::stod(found.at("LOG10P"))) != Decision(std::stod(expected.at("LOG10P")))) {
    return "another decision: LOG10P " + found.at("LOG10P");
  }
  return "";
}

}  // namespace

RegenieText ReadRegenieText(const std::filesystem::path& path) {
  RegenieText text;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::string line;
  if (!std::getline(in, line)) return text;
  text.header = Words(line);
  while (std::getline(in, line)) {
    const std::vector<std::string> words = Words(line);
    EXPECT_EQ(words.size(), text.header.size()) << line;
    std::map<std::string, std::string> row;
    for (size_t i = 0; i < std::min(words.size(), text.header.size()); ++i) {
      row[text.header[i]] = words[i];
    }
    text.rows.push_back(std::move(row));
  }
  return text;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::pair<std::string, double>> InfoFields(const std::string& text) {
  std::vector<std::pair<std::string, double>> fields;
  std::istringstream in(text);
  for (std::string field; std::getline(in, field, ';');) {
    const size_t equals = field.find('=');
    fields.emplace_back(field.substr(0, equals), std::stod(field.substr(equals + 1)));
  }
  return fields;
}

bool NumbersAgree(const std::string& found, const std::string& expected, double relative) {
  if (found == expected) return true;
  if (found == "NA" || expected == "NA") return false;
  return std::fabs(std::stod(found) - std::stod(expected)) <=
         relative * std::fabs(std::stod(expected));
}

void ExpectSameResults(const RegenieText& found, const RegenieText& expected,
                       const IsCorrected& is_corrected) {
  ASSERT_EQ(found.header, expected.header);
  EXPECT_EQ(found.rows.size(), expected.rows.size())
      << "missing: " << IdsOnlyIn(expected, found) << "\nextra: " << IdsOnlyIn(found, expected);
  int messages = 0;
  const size_t common = std::min(found.rows.size(), expected.rows.size());
  for (size_t i = 0; i < common && messages < kMostMessages; ++i) {
    const double relative =
        is_corrected(expected.rows[i].at("ID")) ? kCorrectedRelative : kRelative;
    const std::string difference = Difference(found.rows[i], expected.rows[i], relative);
    if (difference.empty()) continue;
    ADD_FAILURE() << "row " << i << ", " << expected.rows[i].at("ID") << ": " << difference;
    ++messages;
  }
}

}  // namespace tallele::golden

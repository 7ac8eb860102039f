#ifndef TALLELE_TESTS_GOLDEN_REGENIE_TEXT_H_
#define TALLELE_TESTS_GOLDEN_REGENIE_TEXT_H_

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tallele::golden {

// A REGENIE result file: the header's names and the rows' fields.
struct RegenieText {
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;
};

RegenieText ReadRegenieText(const std::filesystem::path& path);

// Adds a test failure for every difference between `found` and `expected` beyond the tolerance
// of the golden files' README: 2e-5 relative on numbers, or BETA within 1e-6 of its SE, or CHISQ
// and LOG10P within 1e-7; everything else, the missing values and the decisions at p < 0.05 and
// p < 5e-8 exactly.
//
// Rows that `is_corrected` names by their ID may differ by 1e-4 (Firth, saddlepoint).
using IsCorrected = std::function<bool(const std::string&)>;
void ExpectSameResults(
    const RegenieText& found, const RegenieText& expected,
    const IsCorrected& is_corrected = [](const std::string&) { return false; });

// The whole file.
std::string ReadAll(const std::filesystem::path& path);

// "A=1;B=2" as pairs.
std::vector<std::pair<std::string, double>> InfoFields(const std::string& text);

// The number that a field holds differs from the expected one by no more than the tolerance.
bool NumbersAgree(const std::string& found, const std::string& expected, double relative);

}  // namespace tallele::golden

#endif  // TALLELE_TESTS_GOLDEN_REGENIE_TEXT_H_

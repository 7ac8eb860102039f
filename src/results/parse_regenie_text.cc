#include "results/parse_regenie_text.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace tallele {
namespace {

double Number(std::istringstream& fields) {
  std::string text;
  fields >> text;
  return text == "NA" ? std::numeric_limits<double>::quiet_NaN()
                      : std::strtod(text.c_str(), nullptr);
}

}  // namespace

ParsedRegenieText ParseRegenieText(const std::string& text) {
  ParsedRegenieText parsed;
  parsed.schema.ref_first = true;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  parsed.schema.has_info = line.find(" INFO ") != std::string::npos;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string chromosome, id, allele0, allele1, test, extra;
    uint32_t position = 0;
    ResultRow row;
    row.variant = static_cast<uint32_t>(parsed.table.rows.size());
    fields >> chromosome >> position >> id >> allele0 >> allele1;
    row.a1freq = Number(fields);
    row.info = parsed.schema.has_info ? Number(fields) : std::numeric_limits<double>::quiet_NaN();
    row.info_ratio = std::numeric_limits<double>::quiet_NaN();
    fields >> row.n >> test;
    row.beta = Number(fields);
    row.se = Number(fields);
    row.chisq = Number(fields);
    row.log10p = Number(fields);
    fields >> extra;
    if (extra == "TEST_FAIL") {
      row.status = RowStatus::kNotConverged;
    } else if (std::isnan(row.chisq)) {
      row.status = RowStatus::kNoVariance;
    }
    parsed.variants.Add({chromosome, position, id, allele0, allele1, 2});
    parsed.table.rows.push_back(row);
  }
  return parsed;
}

}  // namespace tallele

#ifndef TALLELE_ANCESTRY_MODEL_COHORT_ROWS_H_
#define TALLELE_ANCESTRY_MODEL_COHORT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tallele {

// A person of a cohort.
struct CohortPerson {
  std::string family;
  std::string individual;
};

// A cohort lined up with a model: 2-bit rows (kernels/packed_products.h) over the model SNPs that
// it has, whose value is the copies of the model's counted allele.
class CohortRows {
 public:
  virtual ~CohortRows() = default;

  virtual const std::vector<CohortPerson>& people() const = 0;
  // The model's SNP of each column, ascending.
  virtual const std::vector<uint32_t>& model_snps() const = 0;
  // ModelSnps::Identity of the model that the cohort was matched with; empty when unknown.
  virtual const std::string& snps_identity() const = 0;
  // Changes whenever a value changes: ties the parts of a resumed run together.
  virtual std::string Identity() const = 0;
  // Rows first .. first+count-1 at PackedRowStride(model_snps().size()). Thread-safe.
  virtual Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const = 0;
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_COHORT_ROWS_H_

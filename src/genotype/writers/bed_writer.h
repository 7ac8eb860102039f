#ifndef TALLELE_GENOTYPE_WRITERS_BED_WRITER_H_
#define TALLELE_GENOTYPE_WRITERS_BED_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "genotype/genotype_source.h"
#include "genotype/variant_index.h"

namespace tallele {

inline constexpr uint8_t kMissingHardCall = 3;

// Appends one variant's .bed bytes. `calls` has one entry a person: copies of the first
// allele (0, 1, 2), or `kMissingHardCall`.
void AppendBedRow(std::span<const uint8_t> calls, std::vector<uint8_t>& out);

// Appends one .bim line.
void AppendBimLine(const VariantRecord& variant, std::string& out);

// A person of a .fam file.
struct FamPerson {
  SampleIdentity identity;
  std::string father = "0";
  std::string mother = "0";
};

// Writes <prefix>.bed, .bim and .fam (SNP-major). None of them stands under its name before
// `Commit`.
class BedWriter {
 public:
  static Result<std::unique_ptr<BedWriter>> Create(const std::string& prefix,
                                                   std::span<const FamPerson> people);

  // The same variants as `AppendBedRow` and `AppendBimLine` made them.
  Result<void> Append(std::span<const uint8_t> bed_rows, std::string_view bim_lines);
  Result<void> Commit();

 private:
  BedWriter() = default;
  std::unique_ptr<AtomicFile> bed_;
  std::unique_ptr<AtomicFile> bim_;
  std::unique_ptr<AtomicFile> fam_;
};

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_WRITERS_BED_WRITER_H_

#ifndef TALLELE_TESTS_PROPERTY_IN_MEMORY_SCAN_H_
#define TALLELE_TESTS_PROPERTY_IN_MEMORY_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assoc/block_test.h"
#include "cohort/cohort.h"
#include "kernels/cpu_target.h"
#include "tests/golden/reference_linear.h"

namespace tallele::property {

// A made-up variant over the people of a file: stored pairs as in `DecodedVariant`.
struct MadeVariant {
  std::vector<std::optional<StoredPair>> calls;  // [file people]; nothing = missing
  uint32_t denominator = 255;
  bool phased = false;
  bool sparse = false;        // handed out as carriers of something else than (0,0)
  std::vector<bool> haploid;  // empty: nobody
  uint32_t position = 1;

  // Dosage of the first allele, or the code of `coding` for the effect allele.
  std::optional<golden::Real> Value(size_t person, const Coding& coding) const;
  bool IsHaploid(size_t person) const { return !haploid.empty() && haploid[person]; }
};

// Everything of a scan, without files.
struct InMemoryScan {
  size_t num_file_people = 0;
  Cohort cohort;                          // base, sex, covariates, traits
  std::vector<std::vector<double>> loco;  // [trait][base]; empty: no predictions
  std::vector<MadeVariant> variants;
  std::string chromosome = "1";
  int chromosome_code = 1;
  TestSettings settings;  // no filters unless set
  bool is_binary = false;
  BinaryOptions binary;

  // Rows of each trait, by the engine. `width`: variants in a block.
  std::vector<ResultTable> Run(CpuTarget target, size_t width) const;

  // Frequency of the effect allele over the trait's people with a call.
  golden::Real ExpectFrequency(size_t trait, size_t variant) const;
  // A row by the oracle.
  golden::ReferenceRow Expect(size_t trait, size_t variant) const;
};

// `n` people in the file, everyone in the base set, no traits yet.
InMemoryScan MakeScan(size_t n);

// The base person's number in the file is itself: adds a trait and its predictions.
void AddTrait(InMemoryScan& scan, std::string name, std::vector<double> values);

}  // namespace tallele::property

#endif  // TALLELE_TESTS_PROPERTY_IN_MEMORY_SCAN_H_

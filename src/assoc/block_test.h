#ifndef TALLELE_ASSOC_BLOCK_TEST_H_
#define TALLELE_ASSOC_BLOCK_TEST_H_

#include <cstddef>
#include <vector>

#include "assoc/block_sums.h"
#include "assoc/chromosome_state.h"
#include "assoc/genetic_coding.h"
#include "assoc/linear_score.h"
#include "assoc/variant_measures.h"
#include "cohort/variant_selection.h"
#include "results/result_table.h"

namespace tallele {

// What every block of a scan is tested with.
struct TestSettings {
  Coding coding;
  double min_mac = 0;
  double min_info = 0;
  double min_homs = 0;
  bool has_probabilities = false;
  int sex_chromosome_code = 23;  // males' alleles count half there, outside the PARs
  NonParRegion non_par;
};

// Rows of one block for one trait, and the variants that its filters left out.
struct TraitRows {
  ResultTable table;
  size_t low_mac = 0;
  size_t low_info = 0;
  size_t low_homs = 0;

  void Clear();
};

// Variants of a block that cannot be tested, for counts and the list of their names.
struct SkippedVariants {
  std::vector<size_t> not_biallelic;  // indices in the file
  std::vector<size_t> high_ploidy;

  void Clear();
};

// Tests all traits on the variants of a block. One per worker.
class BlockTester {
 public:
  BlockTester(const TestSettings& settings, const VariantIndex& variants);

  // Appends to `rows` ([trait], any order of use) and `skipped`.
  void Test(const VariantBlock& block, const ChromosomeState& state, std::vector<TraitRows>& rows,
            SkippedVariants& skipped);

 private:
  enum class Filter { kPass, kLowMac, kLowInfo, kLowHoms };

  void TestGroup(const VariantBlock& block, const ChromosomeState& state, size_t v, size_t group,
                 std::vector<TraitRows>& rows);
  VariantMeasures Measure(const VariantBlock& block, const ChromosomeState& state, size_t v,
                          const SampleGroup& group, const VariantMoments& moments) const;
  Filter ApplyFilters(const VariantMeasures& measures, const CodeMoments& codes, double unit) const;
  ResultRow RowOf(size_t variant, const VariantMeasures& measures) const;
  void AddRows(const GroupState& group, const ResultRow& common, bool has_test,
               std::vector<TraitRows>& rows) const;

  TestSettings settings_;
  const VariantIndex& variants_;
  BlockSums sums_;
  ResidualisedVariant residualised_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_BLOCK_TEST_H_

#ifndef TALLELE_ASSOC_BLOCK_TEST_H_
#define TALLELE_ASSOC_BLOCK_TEST_H_

#include <tbb/enumerable_thread_specific.h>

#include <cstddef>
#include <vector>

#include "assoc/binary_correction.h"
#include "assoc/binary_score.h"
#include "assoc/block_sums.h"
#include "assoc/chromosome_state.h"
#include "assoc/genetic_coding.h"
#include "assoc/linear_score.h"
#include "assoc/variant_measures.h"
#include "cohort/variant_selection.h"
#include "results/result_table.h"
#include "results/wide_text.h"

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
  bool count_genotypes = false;  // rows come with the people of each genotype
  bool union_rows = false;       // variants are described over the people of all traits, too
  double correction_chisq = 0;   // binary traits: a larger score statistic is corrected; 0: none
};

// What became of a trait's candidates for a correction.
struct CorrectionCounts {
  size_t candidates = 0;
  size_t carriers_only = 0;
  size_t by_end[6] = {};  // CorrectionEnd

  void Add(const CorrectionCounts& other);
};

// Rows of one block for one trait, and the variants that its filters left out.
struct TraitRows {
  ResultTable table;
  size_t low_mac = 0;
  size_t low_info = 0;
  size_t low_homs = 0;
  CorrectionCounts corrections;

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
  // `corrector` and `scratch` are for binary traits; all must outlive the tester.
  BlockTester(const TestSettings& settings, const VariantIndex& variants,
              const BinaryCorrector& corrector,
              tbb::enumerable_thread_specific<CorrectionScratch>& scratch);

  // Appends to `rows` ([trait], any order of use) and `skipped`.
  void Test(const VariantBlock& block, const ChromosomeState& state, std::vector<TraitRows>& rows,
            SkippedVariants& skipped);

  // With TestSettings::union_rows: the variants of the block last tested that pass the filters over
  // the people of all traits.
  const std::vector<UnionRow>& union_rows() const { return union_rows_; }

 private:
  enum class Filter { kPass, kLowMac, kLowInfo, kLowHoms };

  // A row that waits for its correction.
  struct Pending {
    CorrectionCandidate candidate;
    size_t trait = 0;
    size_t row = 0;
    double sign = 1;  // of the effect allele against the turned codes
    CorrectedTest result;
  };

  void TestGroup(const VariantBlock& block, const ChromosomeState& state, size_t v, size_t group,
                 std::vector<TraitRows>& rows);
  void AddUnionRow(const VariantBlock& block, const ChromosomeState& state, size_t v);
  VariantMeasures Measure(const VariantBlock& block, const ChromosomeState& state, size_t v,
                          std::span<const uint32_t> males, const VariantMoments& moments) const;
  Filter ApplyFilters(const VariantMeasures& measures, const CodeMoments& codes, double unit) const;
  ResultRow RowOf(size_t variant, const VariantMeasures& measures) const;
  void AddRows(const GroupState& group, const ResultRow& common, bool has_test,
               std::vector<TraitRows>& rows) const;
  void AddBinaryRows(const VariantBlock& block, const GroupState& group, size_t v,
                     const ResultRow& common, const VariantMoments& moments,
                     std::vector<TraitRows>& rows);
  static void CountFiltered(Filter filter, TraitRows& rows);
  void FillCaseColumns(const VariantBlock& block, const BinaryNull& null, size_t v,
                       const VariantMoments& moments, const BinaryScore& test,
                       ResultRow& row) const;
  void AddPending(const BinaryNull& null, const BinaryScore& test, size_t v, double sign,
                  const ResultRow& row, const TraitRows& own);
  void CorrectPending(const VariantBlock& block, std::vector<TraitRows>& rows);
  static void MergeCorrection(const Pending& pending, CorrectionMethod method, TraitRows& own);
  void CountGenotypes(const VariantBlock& block, const GroupState& group, size_t v,
                      std::vector<TraitRows>& rows) const;

  TestSettings settings_;
  const VariantIndex& variants_;
  BlockSums sums_;
  ResidualisedVariant residualised_;
  WeightedVariant weighted_;
  const BinaryCorrector& corrector_;
  tbb::enumerable_thread_specific<CorrectionScratch>& scratch_;
  std::vector<Pending> pending_;
  std::vector<UnionRow> union_rows_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_BLOCK_TEST_H_

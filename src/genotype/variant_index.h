#ifndef TALLELE_GENOTYPE_VARIANT_INDEX_H_
#define TALLELE_GENOTYPE_VARIANT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tallele {

// Variants first .. first+count-1 of a file.
struct VariantRange {
  size_t first = 0;
  size_t count = 0;
};

// One variant's description; views into the index.
struct VariantRecord {
  std::string_view chromosome;  // label as in the file
  uint32_t position = 0;
  std::string_view id;             // rsid when there is one, else the variant identifier
  std::string_view first_allele;   // BGEN allele 1, BIM column 5
  std::string_view second_allele;  // BGEN allele 2, BIM column 6; empty when there is none
  uint32_t num_alleles = 2;
};

// Contiguous run of variants with one chromosome label.
struct ChromosomeRun {
  std::string label;
  VariantRange range;
};

// Descriptions of all variants of a file in file order, in at most 40 bytes a variant plus
// the text of its identifier and long alleles: identifiers in one arena, chromosome labels
// and short alleles dictionary-coded.
class VariantIndex {
 public:
  void Reserve(size_t num_variants);
  void Add(const VariantRecord& record);

  size_t size() const { return positions_.size(); }
  VariantRecord operator[](size_t variant) const;
  const std::vector<ChromosomeRun>& runs() const { return runs_; }
  size_t MemoryBytes() const;

 private:
  uint32_t InternAllele(std::string_view allele);

  std::vector<uint32_t> positions_;
  std::vector<uint64_t> id_ends_;
  std::string id_arena_;
  std::vector<uint32_t> first_alleles_;
  std::vector<uint32_t> second_alleles_;
  std::vector<uint16_t> num_alleles_;
  std::vector<ChromosomeRun> runs_;
  std::vector<std::string> alleles_;
  std::vector<uint32_t> allele_slots_;  // open-addressing hash over alleles_
};

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_VARIANT_INDEX_H_

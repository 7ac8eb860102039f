#ifndef TALLELE_ANCESTRY_TRAIN_BATCH_INPUTS_H_
#define TALLELE_ANCESTRY_TRAIN_BATCH_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ancestry/train/float_table.h"
#include "kernels/float_products.h"

namespace tallele {

// What each genotype of each SNP is worth as an input (spec of upstream, float32), times `scale`:
// (x - mean) / deviation and 0 for a missing call; or, not normalised, x and the mean. Tables are
// padded to a multiple of 256 SNPs.
class InputTables {
 public:
  InputTables() = default;
  // SNPs without finite statistics are worth 0, and so are normalised ones whose deviation is
  // below `smallest_deviation`.
  InputTables(std::span<const double> means, std::span<const double> deviations, bool normalise,
              float scale, double smallest_deviation = 0);

  size_t num_snps() const { return num_snps_; }
  GenotypeValues values() const {
    return {{of_[0].data(), of_[1].data(), of_[2].data(), of_[3].data()}};
  }
  float value(size_t snp, int code) const { return of_[code][snp]; }
  // The code that is worth 0 at every SNP: what a dropped genotype is replaced by.
  int dropped_code() const { return normalised_ ? 3 : 0; }

 private:
  size_t num_snps_ = 0;
  bool normalised_ = true;
  FloatVector of_[4];
};

// The SNPs of a batch that count and where: in SNP order, the entries of each that are not 0.
struct SparseInputs {
  std::vector<uint32_t> snps;       // ascending
  std::vector<uint32_t> starts;     // of each SNP's entries; one more at the end
  std::vector<SparseTerm> entries;  // column: person of the batch, ascending within a SNP

  // The entries of some places in `snps`.
  SparseRows Rows(size_t place, size_t count) const {
    return {starts.data() + place, entries.data(), count};
  }
};

// A batch of people as packed rows (kernels/packed_products.h) in which dropped genotypes have the
// code that is worth 0.
struct DenseInputs {
  std::vector<const uint8_t*> rows;
};

// Collects the kept genotypes of a batch, person by person, into SNP order.
class SparseBuilder {
 public:
  void Begin(size_t num_snps, size_t num_people);
  // A person's kept SNPs, ascending, and their packed row; for different people by different
  // threads at once. Values of 0 are left out.
  void SetPerson(size_t person, const uint8_t* row, std::span<const uint32_t> kept,
                 const InputTables& tables);
  void Finish(SparseInputs& out);

 private:
  struct Kept {
    uint32_t snp;
    float value;
  };
  std::vector<std::vector<Kept>> kept_;  // of each person
  std::vector<uint32_t> counts_;         // of each SNP
};

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_TRAIN_BATCH_INPUTS_H_

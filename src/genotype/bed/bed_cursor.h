#ifndef TALLELE_GENOTYPE_BED_BED_CURSOR_H_
#define TALLELE_GENOTYPE_BED_BED_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/file_env.h"
#include "genotype/genotype_source.h"

namespace tallele::bed {

// Reads ranges of an SNP-major .bed file whose size has been checked.
class BedCursor final : public GenotypeCursor {
 public:
  // `file` and `variants` belong to the source and outlive the cursor.
  BedCursor(const ReadableFile& file, const VariantIndex& variants, SampleSelection selection,
            CarrierPolicy carriers, CpuTarget target);

  Result<void> Read(VariantRange range) override;
  Result<void> Decode(VariantBlock& block) override;

 private:
  void DecodeVariant(size_t i, VariantBlock& block);
  void StoreSparse(const uint8_t* row, uint16_t baseline, VariantBlock& block,
                   DecodedVariant& variant);

  const ReadableFile& file_;
  const VariantIndex& variants_;
  SampleSelection selection_;
  CarrierPolicy carriers_;
  CpuTarget target_;
  size_t bytes_per_variant_;
  VariantRange range_;
  AlignedBuffer codes_;
  std::vector<uint32_t> missing_;
  std::vector<uint32_t> carrier_people_;
  std::vector<uint16_t> carrier_pairs_;
};

}  // namespace tallele::bed

#endif  // TALLELE_GENOTYPE_BED_BED_CURSOR_H_

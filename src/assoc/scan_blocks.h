#ifndef TALLELE_ASSOC_SCAN_BLOCKS_H_
#define TALLELE_ASSOC_SCAN_BLOCKS_H_

#include <cstddef>
#include <vector>

#include "genotype/variant_index.h"

namespace tallele {

// One step of a scan: variants to read and test (`range.count` may be 0), and whether a part of
// the output grid ends after them.
struct ScanBlock {
  VariantRange range;
  size_t run = 0;   // index into VariantIndex::runs()
  size_t part = 0;  // index into the part grid
  bool ends_part = false;
};

// Walks the selected variants of a file in order. Blocks hold neighbours only, at most `width` of
// them, and restart at chromosomes and at the parts of the output grid; variants that are not
// selected are in no block. Every part ends once, also one without a selected variant.
class ScanBlockWalker {
 public:
  // `selected` empty: all. All arguments must outlive the walker.
  ScanBlockWalker(const VariantIndex& variants, const std::vector<VariantRange>& parts,
                  const std::vector<bool>& selected, size_t width);

  // False when the walk is over.
  bool Next(ScanBlock* block);

 private:
  bool IsSelected(size_t variant) const { return selected_.empty() || selected_[variant]; }

  const VariantIndex& variants_;
  const std::vector<VariantRange>& parts_;
  const std::vector<bool>& selected_;
  size_t width_;
  size_t part_ = 0;
  size_t run_ = 0;
  size_t next_ = 0;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_BLOCKS_H_

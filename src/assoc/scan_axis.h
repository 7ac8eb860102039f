#ifndef TALLELE_ASSOC_SCAN_AXIS_H_
#define TALLELE_ASSOC_SCAN_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genotype/genotype_source.h"

namespace tallele {

// How the people of the base set lie in the blocks that a cursor hands out.
//
// People are counted on three axes: file positions, base positions (the cohort) and block
// positions. The block axis is the whole file when most of it is used (leaving people in the
// block with q = 0 costs less than gathering the others), else the used people alone.
// Exact sums make both choices the same bits.
struct ScanAxis {
  static constexpr uint32_t kNobody = UINT32_MAX;

  SampleSelection selection;            // what cursors are opened with
  std::vector<uint32_t> block_of_base;  // [base]; kNobody for people whom no trait uses
  std::vector<uint32_t> base_of_block;  // [block]; kNobody for people who are not used
  std::vector<uint32_t> unused;         // block positions of kNobody, ascending

  size_t num_block_people() const { return base_of_block.size(); }
  size_t num_used() const { return base_of_block.size() - unused.size(); }
};

// Share of the file that must be used for the block axis to be the whole file.
inline constexpr double kWholeFileShare = 0.6;

// `base`: file positions of the base set, ascending. `used[b]`: some trait that can be
// analysed has a value for base person b.
ScanAxis ChooseScanAxis(size_t num_file_people, std::span<const uint32_t> base,
                        const std::vector<bool>& used);

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_AXIS_H_

#include "assoc/scan_axis.h"

#include <algorithm>

namespace tallele {

ScanAxis ChooseScanAxis(size_t num_file_people, std::span<const uint32_t> base,
                        const std::vector<bool>& used) {
  ScanAxis axis;
  axis.selection.num_file_samples = num_file_people;
  axis.block_of_base.assign(base.size(), ScanAxis::kNobody);
  const size_t num_used = static_cast<size_t>(std::count(used.begin(), used.end(), true));
  const bool whole_file =
      static_cast<double>(num_used) >= kWholeFileShare * static_cast<double>(num_file_people);
  if (whole_file) {
    axis.base_of_block.assign(num_file_people, ScanAxis::kNobody);
  } else {
    axis.selection.file_positions.emplace();
  }
  for (uint32_t b = 0; b < base.size(); ++b) {
    if (!used[b]) continue;
    if (whole_file) {
      axis.block_of_base[b] = base[b];
      axis.base_of_block[base[b]] = b;
    } else {
      axis.block_of_base[b] = static_cast<uint32_t>(axis.base_of_block.size());
      axis.base_of_block.push_back(b);
      axis.selection.file_positions->push_back(base[b]);
    }
  }
  for (uint32_t p = 0; p < axis.base_of_block.size(); ++p) {
    if (axis.base_of_block[p] == ScanAxis::kNobody) axis.unused.push_back(p);
  }
  return axis;
}

}  // namespace tallele

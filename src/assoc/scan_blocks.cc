#include "assoc/scan_blocks.h"

namespace tallele {

ScanBlockWalker::ScanBlockWalker(const VariantIndex& variants,
                                 const std::vector<VariantRange>& parts,
                                 const std::vector<bool>& selected, size_t width)
    : variants_(variants), parts_(parts), selected_(selected), width_(width) {
  if (!parts_.empty()) next_ = parts_.front().first;
}

bool ScanBlockWalker::Next(ScanBlock* block) {
  if (part_ == parts_.size()) return false;
  const VariantRange part = parts_[part_];
  const size_t part_end = part.first + part.count;
  const std::vector<ChromosomeRun>& runs = variants_.runs();
  while (runs[run_].range.first + runs[run_].range.count <= part.first) ++run_;

  while (next_ < part_end && !IsSelected(next_)) ++next_;
  const size_t first = next_;
  while (next_ < part_end && next_ - first < width_ && IsSelected(next_)) ++next_;
  block->range = {first, next_ - first};
  block->run = run_;
  block->part = part_;

  size_t rest = next_;
  while (rest < part_end && !IsSelected(rest)) ++rest;
  block->ends_part = rest == part_end;
  if (block->ends_part) {
    ++part_;
    if (part_ < parts_.size()) next_ = parts_[part_].first;
  } else {
    next_ = rest;
  }
  return true;
}

}  // namespace tallele

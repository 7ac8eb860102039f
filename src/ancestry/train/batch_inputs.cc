#include "ancestry/train/batch_inputs.h"

#include <cmath>

namespace tallele {
namespace {

constexpr size_t kPadding = 256;

int CodeOf(const uint8_t* row, size_t snp) { return row[snp / 4] >> (2 * (snp % 4)) & 3; }

}  // namespace

InputTables::InputTables(std::span<const double> means, std::span<const double> deviations,
                         bool normalise, float scale, double smallest_deviation)
    : num_snps_(means.size()), normalised_(normalise) {
  const size_t padded = (num_snps_ + kPadding - 1) / kPadding * kPadding;
  for (FloatVector& table : of_) table.assign(padded, 0.0f);
  for (size_t j = 0; j < num_snps_; ++j) {
    const auto mean = static_cast<float>(means[j]);
    const auto deviation = static_cast<float>(deviations[j]);
    if (!std::isfinite(mean) || !std::isfinite(deviation)) continue;
    if (normalise && deviations[j] < smallest_deviation) continue;
    for (int g = 0; g < 3; ++g) {
      const auto x = static_cast<float>(g);
      of_[g][j] = (normalise ? (x - mean) / deviation : x) * scale;
    }
    if (!normalise) of_[3][j] = mean * scale;
  }
}

void SparseBuilder::Begin(size_t num_snps, size_t num_people) {
  kept_.resize(num_people);
  counts_.assign(num_snps, 0);
}

void SparseBuilder::SetPerson(size_t person, const uint8_t* row, std::span<const uint32_t> kept,
                              const InputTables& tables) {
  std::vector<Kept>& values = kept_[person];
  values.clear();
  for (const uint32_t snp : kept) {
    const float value = tables.value(snp, CodeOf(row, snp));
    if (value != 0) values.push_back({snp, value});
  }
}

void SparseBuilder::Finish(SparseInputs& out) {
  size_t total = 0;
  for (const std::vector<Kept>& person : kept_) {
    for (const Kept& kept : person) ++counts_[kept.snp];
    total += person.size();
  }
  out.snps.clear();
  out.starts.clear();
  out.entries.resize(total);
  uint32_t start = 0;
  for (size_t snp = 0; snp < counts_.size(); ++snp) {
    if (counts_[snp] == 0) continue;
    out.snps.push_back(static_cast<uint32_t>(snp));
    out.starts.push_back(start);
    start += std::exchange(counts_[snp], start);  // now the place of the SNP's next entry
  }
  out.starts.push_back(start);
  for (size_t person = 0; person < kept_.size(); ++person) {
    for (const Kept& kept : kept_[person]) {
      out.entries[counts_[kept.snp]++] = {static_cast<uint32_t>(person), kept.value};
    }
  }
}

}  // namespace tallele

#include "genotype/variant_index.h"

#include "base/hashing.h"

namespace tallele {
namespace {

constexpr uint32_t kEmptySlot = 0xffffffff;

}  // namespace

void VariantIndex::Reserve(size_t num_variants) {
  positions_.reserve(num_variants);
  id_ends_.reserve(num_variants);
  first_alleles_.reserve(num_variants);
  second_alleles_.reserve(num_variants);
  num_alleles_.reserve(num_variants);
}

void VariantIndex::Add(const VariantRecord& record) {
  const size_t variant = positions_.size();
  if (runs_.empty() || runs_.back().label != record.chromosome) {
    runs_.push_back({std::string(record.chromosome), {variant, 0}});
  }
  ++runs_.back().range.count;
  positions_.push_back(record.position);
  id_arena_.append(record.id);
  id_ends_.push_back(id_arena_.size());
  first_alleles_.push_back(InternAllele(record.first_allele));
  second_alleles_.push_back(InternAllele(record.second_allele));
  num_alleles_.push_back(static_cast<uint16_t>(record.num_alleles));
}

VariantRecord VariantIndex::operator[](size_t variant) const {
  // Runs are few; the last one that starts at or before the variant holds it.
  size_t low = 0, high = runs_.size();
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (runs_[middle].range.first <= variant ? low : high) = middle;
  }
  const uint64_t begin = variant == 0 ? 0 : id_ends_[variant - 1];
  VariantRecord record;
  record.chromosome = runs_[low].label;
  record.position = positions_[variant];
  record.id = std::string_view(id_arena_).substr(begin, id_ends_[variant] - begin);
  record.first_allele = alleles_[first_alleles_[variant]];
  record.second_allele = alleles_[second_alleles_[variant]];
  record.num_alleles = num_alleles_[variant];
  return record;
}

size_t VariantIndex::MemoryBytes() const {
  size_t bytes = positions_.capacity() * 4 + id_ends_.capacity() * 8 + id_arena_.capacity() +
                 (first_alleles_.capacity() + second_alleles_.capacity()) * 4 +
                 num_alleles_.capacity() * 2 + allele_slots_.capacity() * 4;
  for (const std::string& allele : alleles_) bytes += sizeof(std::string) + allele.capacity();
  return bytes;
}

uint32_t VariantIndex::InternAllele(std::string_view allele) {
  if (allele_slots_.size() < 2 * (alleles_.size() + 1)) {
    allele_slots_.assign(allele_slots_.empty() ? 64 : 2 * allele_slots_.size(), kEmptySlot);
    for (uint32_t i = 0; i < alleles_.size(); ++i) {
      size_t slot = HashBytes(alleles_[i]) & (allele_slots_.size() - 1);
      while (allele_slots_[slot] != kEmptySlot) slot = (slot + 1) & (allele_slots_.size() - 1);
      allele_slots_[slot] = i;
    }
  }
  size_t slot = HashBytes(allele) & (allele_slots_.size() - 1);
  while (allele_slots_[slot] != kEmptySlot) {
    if (alleles_[allele_slots_[slot]] == allele) return allele_slots_[slot];
    slot = (slot + 1) & (allele_slots_.size() - 1);
  }
  allele_slots_[slot] = static_cast<uint32_t>(alleles_.size());
  alleles_.emplace_back(allele);
  return allele_slots_[slot];
}

}  // namespace tallele

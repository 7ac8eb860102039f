#include "genotype/variant_block.h"

#include <algorithm>
#include <cstring>

namespace tallele {
namespace {

constexpr size_t kMostPlanes = 4;

size_t RoundToLine(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Copies into the last chunk that has room; chunks never move, so earlier spans stay valid.
template <typename T>
std::span<const T> Store(std::vector<std::vector<T>>& chunks, std::span<const T> values) {
  if (values.empty()) return {};
  if (chunks.empty() || chunks.back().capacity() - chunks.back().size() < values.size()) {
    chunks.emplace_back();
    chunks.back().reserve(std::max(values.size(), size_t{1} << 15));
  }
  std::vector<T>& chunk = chunks.back();
  const size_t begin = chunk.size();
  chunk.insert(chunk.end(), values.begin(), values.end());
  return std::span<const T>(chunk).subspan(begin);
}

template <typename T>
void KeepFirstChunk(std::vector<std::vector<T>>& chunks) {
  if (chunks.size() > 1) chunks.resize(1);
  if (!chunks.empty()) chunks.front().clear();
}

}  // namespace

VariantMoments& VariantMoments::operator+=(const VariantMoments& other) {
  num_called += other.num_called;
  num_haploid += other.num_haploid;
  sum_t += other.sum_t;
  sum_t2 += other.sum_t2;
  sum_variance += other.sum_variance;
  return *this;
}

VariantMoments& VariantMoments::operator-=(const VariantMoments& other) {
  num_called -= other.num_called;
  num_haploid -= other.num_haploid;
  sum_t -= other.sum_t;
  sum_t2 -= other.sum_t2;
  sum_variance -= other.sum_variance;
  return *this;
}

void VariantBlock::Reset(VariantRange range, size_t num_people, size_t prefix_bytes) {
  range_ = range;
  num_people_ = num_people;
  prefix_bytes_ = RoundToLine(prefix_bytes);
  // An odd number of cache lines from row to row keeps rows off each other's cache sets.
  stride_ = prefix_bytes_ + PairRowStride(num_people);
  if (stride_ / 64 % 2 == 0) stride_ += 64;
  num_rows_ = 0;
  bound_ = PairBound::kSumUpTo255;
  storage_.Resize((range.count + kMostPlanes) * stride_ + prefix_bytes_);
  variants_.clear();
  variants_.reserve(range.count);
  KeepFirstChunk(index_chunks_);
  KeepFirstChunk(pair_chunks_);
}

PairRows VariantBlock::rows() const {
  PairRows rows;
  rows.data = reinterpret_cast<const uint8_t*>(storage_.data()) + prefix_bytes_;
  rows.stride = stride_;
  rows.num_rows = num_rows_;
  rows.num_people = num_people_;
  rows.bound = bound_;
  return rows;
}

PairRows VariantBlock::rows(const DecodedVariant& variant) const {
  PairRows planes = rows();
  planes.data += variant.first_row * stride_;
  planes.num_rows = variant.num_planes;
  return planes;
}

uint8_t* VariantBlock::ScratchRow() {
  const size_t needed = (num_rows_ + kMostPlanes) * stride_ + prefix_bytes_;
  if (storage_.size() < needed) {
    AlignedBuffer larger(needed + needed / 2);
    std::memcpy(larger.data(), storage_.data(), storage_.size());
    storage_ = std::move(larger);
  }
  return reinterpret_cast<uint8_t*>(storage_.data()) + prefix_bytes_ + num_rows_ * stride_;
}

void VariantBlock::KeepRows(size_t count, PairBound bound) {
  num_rows_ += count;
  if (bound == PairBound::kAnyBytes) bound_ = bound;
}

std::span<const uint32_t> VariantBlock::StoreIndices(std::span<const uint32_t> indices) {
  return Store(index_chunks_, indices);
}

std::span<const uint16_t> VariantBlock::StorePairs(std::span<const uint16_t> pairs) {
  return Store(pair_chunks_, pairs);
}

size_t VariantBlock::MemoryBytes() const {
  size_t bytes = storage_.size() + variants_.capacity() * sizeof(DecodedVariant);
  for (const auto& chunk : index_chunks_) bytes += chunk.capacity() * sizeof(uint32_t);
  for (const auto& chunk : pair_chunks_) bytes += chunk.capacity() * sizeof(uint16_t);
  return bytes;
}

StoredPair PairOf(const VariantBlock& block, const DecodedVariant& variant, uint32_t person) {
  StoredPair pair;
  if (variant.is_sparse) {
    const auto at = std::lower_bound(variant.carriers.begin(), variant.carriers.end(), person);
    uint16_t bytes = variant.baseline;
    if (at != variant.carriers.end() && *at == person) {
      bytes = variant.carrier_pairs[static_cast<size_t>(at - variant.carriers.begin())];
    }
    pair.a0 = bytes & 255;
    pair.a1 = bytes >> 8;
    return pair;
  }
  const PairRows planes = block.rows(variant);
  for (size_t plane = planes.num_rows; plane-- > 0;) {
    const uint8_t* bytes = planes.row(plane) + 2 * size_t{person};
    pair.a0 = pair.a0 << 8 | bytes[0];
    pair.a1 = pair.a1 << 8 | bytes[1];
  }
  return pair;
}

__int128 CallVariance(const DecodedVariant& variant, StoredPair pair, bool haploid) {
  const __int128 d = variant.denominator, a0 = pair.a0, a1 = pair.a1;
  if (haploid) return a0 * (d - a0);
  if (variant.kind == CallKind::kPhased) return a0 * (d - a0) + a1 * (d - a1);
  const __int128 t = 2 * a0 + a1;
  return d * (4 * a0 + a1) - t * t;
}

VariantMoments UnphasedMoments(uint32_t denominator, const PairMoments& row, int64_t num_called) {
  VariantMoments moments;
  moments.num_called = num_called;
  moments.sum_t = row.sum_t;
  moments.sum_t2 = row.sum_t2;
  // sum a0 = sum_t - sum_b and sum a1 = 2 sum_b - sum_t, so sum (4 a0 + a1) = 3 sum_t - 2 sum_b.
  moments.sum_variance =
      __int128{denominator} * (3 * row.sum_t - 2 * row.sum_b) - __int128{row.sum_t2};
  return moments;
}

namespace {

int64_t CountCommon(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  int64_t count = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    count += a[i] == b[j];
    const bool step_a = a[i] <= b[j], step_b = b[j] <= a[i];
    i += step_a;
    j += step_b;
  }
  return count;
}

void AddPair(PairMoments& sums, int64_t b0, int64_t b1, int64_t times = 1) {
  const int64_t t = 2 * b0 + b1;
  sums.sum_b += times * (b0 + b1);
  sums.sum_t += times * t;
  sums.sum_t2 += times * t * t;
}

// Unphased diploid, one plane: integer sums over pairs, whether dense or sparse.
VariantMoments SimpleSubsetMoments(const VariantBlock& block, const DecodedVariant& variant,
                                   std::span<const uint32_t> people) {
  PairMoments sums;
  if (variant.is_sparse) {
    size_t i = 0;
    int64_t carriers = 0;
    for (size_t k = 0; k < variant.carriers.size(); ++k) {
      while (i < people.size() && people[i] < variant.carriers[k]) ++i;
      if (i == people.size()) break;
      if (people[i] != variant.carriers[k]) continue;
      AddPair(sums, variant.carrier_pairs[k] & 255, variant.carrier_pairs[k] >> 8);
      ++carriers;
    }
    AddPair(sums, variant.baseline & 255, variant.baseline >> 8,
            static_cast<int64_t>(people.size()) - carriers);
  } else {
    const uint8_t* row = block.rows(variant).row(0);
    for (const uint32_t person : people) AddPair(sums, row[2 * person], row[2 * person + 1]);
  }
  const int64_t missing = variant.missing.empty() ? 0 : CountCommon(variant.missing, people);
  return UnphasedMoments(variant.denominator, sums, static_cast<int64_t>(people.size()) - missing);
}

}  // namespace

VariantMoments SubsetMoments(const VariantBlock& block, const DecodedVariant& variant,
                             std::span<const uint32_t> people) {
  if (variant.num_planes == 1 && variant.kind == CallKind::kUnphased && variant.haploid.empty()) {
    return SimpleSubsetMoments(block, variant, people);
  }
  VariantMoments moments;
  auto missing = variant.missing.begin();
  auto haploid = variant.haploid.begin();
  for (const uint32_t person : people) {
    while (missing != variant.missing.end() && *missing < person) ++missing;
    if (missing != variant.missing.end() && *missing == person) continue;
    while (haploid != variant.haploid.end() && *haploid < person) ++haploid;
    const bool one_copy = haploid != variant.haploid.end() && *haploid == person;
    const StoredPair pair = PairOf(block, variant, person);
    const __int128 t = variant.kind == CallKind::kPhased ? __int128{pair.a0} + pair.a1
                                                         : 2 * __int128{pair.a0} + pair.a1;
    ++moments.num_called;
    moments.num_haploid += one_copy;
    moments.sum_t += t;
    moments.sum_t2 += t * t;
    moments.sum_variance += CallVariance(variant, pair, one_copy);
  }
  return moments;
}

}  // namespace tallele

#include "kernels/pair_rows.h"

#include <cstring>

#include "kernels/product_kernels.h"

namespace tallele {
namespace {

uint16_t LoadPair(const uint8_t* row, size_t person) {
  return static_cast<uint16_t>(row[2 * person] | row[2 * person + 1] << 8);
}

}  // namespace

namespace kernels {

PairMoments PairMomentsScalar(const uint8_t* row, size_t num_people) {
  PairMoments m;
  for (size_t i = 0; i < num_people; ++i) {
    const int b0 = row[2 * i], b1 = row[2 * i + 1], t = 2 * b0 + b1;
    m.sum_b += b0 + b1;
    m.sum_t += t;
    m.sum_t2 += t * t;
    m.sum_exceeds_255 |= b0 + b1 > 255;
  }
  return m;
}

}  // namespace kernels

PairMoments ComputePairMoments(CpuTarget target, const uint8_t* row, size_t num_people) {
  if (target == CpuTarget::kScalar) return kernels::PairMomentsScalar(row, num_people);
  return kernels::PairMomentsAvx2(row, num_people);
}

size_t CountCarriers(CpuTarget target, const uint8_t* row, size_t num_people, uint16_t baseline) {
  if (target != CpuTarget::kScalar) return kernels::CountCarriersAvx2(row, num_people, baseline);
  size_t count = 0;
  for (size_t i = 0; i < num_people; ++i) count += LoadPair(row, i) != baseline;
  return count;
}

size_t ListCarriers(CpuTarget target, const uint8_t* row, size_t num_people, uint16_t baseline,
                    uint32_t* people, uint16_t* pairs) {
  if (target != CpuTarget::kScalar) {
    return kernels::ListCarriersAvx2(row, num_people, baseline, people, pairs);
  }
  size_t count = 0;
  for (size_t i = 0; i < num_people; ++i) {
    if (LoadPair(row, i) == baseline) continue;
    people[count] = static_cast<uint32_t>(i);
    pairs[count++] = LoadPair(row, i);
  }
  return count;
}

bool NoTopBits(CpuTarget target, const uint8_t* bytes, size_t num_bytes) {
  if (target != CpuTarget::kScalar) return kernels::NoTopBitsAvx2(bytes, num_bytes);
  uint8_t any = 0;
  for (size_t i = 0; i < num_bytes; ++i) any |= bytes[i];
  return any < 0x80;
}

void GatherPairs(const PairRows& rows, std::span<const uint32_t> people, uint8_t* out,
                 size_t out_stride) {
  const size_t padded = PaddedPeople(people.size());
  for (size_t r = 0; r < rows.num_rows; ++r) {
    const uint8_t* from = rows.row(r);
    uint8_t* to = out + r * out_stride;
    for (size_t i = 0; i < people.size(); ++i) std::memcpy(to + 2 * i, from + 2 * people[i], 2);
    std::memset(to + 2 * people.size(), 0, 2 * (padded - people.size()));
  }
}

void DecodeNumerators(const uint8_t* row, size_t num_people, uint16_t* out) {
  for (size_t i = 0; i < num_people; ++i) {
    out[i] = static_cast<uint16_t>(2 * row[2 * i] + row[2 * i + 1]);
  }
}

}  // namespace tallele

#include "kernels/weighted_squares.h"

#include "kernels/weighted_squares_avx2.h"
#include "kernels/weighted_squares_avx512.h"

namespace tallele {
namespace {

constexpr int64_t kDigitBase = 1024;

int64_t Numerator(uint16_t pair) { return 2 * int64_t{pair & 255} + (pair >> 8); }

// q as three digits; the highest takes what is left, 512 at most.
void SplitDigits(int64_t q, int16_t* digits, size_t stride) {
  for (size_t d = 0; d < 2; ++d) {
    int64_t digit = q & (kDigitBase - 1);
    if (digit >= kDigitBase / 2) digit -= kDigitBase;
    digits[d * stride] = static_cast<int16_t>(digit);
    q = (q - digit) / kDigitBase;
  }
  digits[2 * stride] = static_cast<int16_t>(q);
}

void SumSquaresScalar(const uint8_t* row, size_t num_people, const int16_t* digits, size_t stride,
                      int64_t sums[3]) {
  sums[0] = sums[1] = sums[2] = 0;
  for (size_t p = 0; p < num_people; ++p) {
    const int64_t u = 2 * int64_t{row[2 * p]} + row[2 * p + 1] - 255;
    const int64_t square = u * u - 32768;
    for (size_t d = 0; d < 3; ++d) sums[d] += square * digits[d * stride + p];
  }
}

void SumSquares(const WeightPlanes& weights, const uint8_t* row, size_t weight, int64_t sums[3]) {
  const int16_t* digits = weights.digits(weight);
  const size_t stride = weights.stride();
  switch (weights.target()) {
    case CpuTarget::kScalar:
      return SumSquaresScalar(row, weights.num_people(), digits, stride, sums);
    case CpuTarget::kAvx2:
    case CpuTarget::kAvxVnni:
      return kernels::SumSquaresAvx2(row, stride, digits, stride, sums);
    case CpuTarget::kAvx512Vnni:
    case CpuTarget::kAmx:
      return kernels::SumSquaresAvx512(row, stride, digits, stride, sums);
  }
}

}  // namespace

WeightPlanes::WeightPlanes(const QuantisedColumns& columns, std::span<const size_t> chosen)
    : target_(columns.target()),
      num_people_(columns.num_people()),
      stride_(PaddedPeople(columns.num_people())),
      columns_(chosen.begin(), chosen.end()) {
  storage_.Resize(columns_.size() * 3 * stride_ * sizeof(int16_t));
  auto* digits = reinterpret_cast<int16_t*>(storage_.data());
  for (const size_t column : columns_) {
    sums_.push_back(columns.sum(column));
    for (size_t p = 0; p < stride_; ++p) {
      SplitDigits(p < num_people_ ? columns.row(p)[column] : 0, digits + p, stride_);
    }
    digits += 3 * stride_;
  }
}

void SumWeightedSquares(const WeightPlanes& weights, const uint8_t* row,
                        std::span<const int64_t> linear, __int128* out) {
  for (size_t w = 0; w < weights.num_weights(); ++w) {
    int64_t sums[3] = {};
    SumSquares(weights, row, w, sums);
    const __int128 moved =
        (static_cast<__int128>(sums[2]) * kDigitBase + sums[1]) * kDigitBase + sums[0];
    const __int128 sum = weights.sum(w);
    // sum q u^2 = moved + 2^15 sum q, and t^2 = u^2 + 510 t - 255^2.
    out[w] = moved + 32768 * sum + 510 * static_cast<__int128>(linear[w]) - 65025 * sum;
  }
}

__int128 SumCarrierSquares(std::span<const uint32_t> people, std::span<const uint16_t> pairs,
                           uint16_t baseline, const QuantisedColumns& columns, size_t column) {
  const int64_t base = Numerator(baseline) * Numerator(baseline);
  __int128 sum = static_cast<__int128>(base) * columns.sum(column);
  for (size_t i = 0; i < people.size(); ++i) {
    const int64_t t = Numerator(pairs[i]);
    // 2^19 * 2^29 fits 64 bits.
    sum += (t * t - base) * columns.row(people[i])[column];
  }
  return sum;
}

}  // namespace tallele

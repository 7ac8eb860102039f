#include "assoc/genetic_coding.h"

#include <algorithm>
#include <cstring>

namespace tallele {
namespace {

// Products of two haplotype probabilities up to this denominator fit 32 bits.
constexpr uint64_t kLargestExactDenominator = 65535;
constexpr uint64_t kRoundedUnit = (uint64_t{1} << 32) - 1;

bool UsesProducts(const Coding& coding, const DecodedVariant& variant) {
  return coding.model != GeneticModel::kAdditive && variant.kind == CallKind::kPhased;
}

// Codes of one person, from the stored pair.
class PersonCoder {
 public:
  PersonCoder(const Coding& coding, const DecodedVariant& variant)
      : coding_(coding),
        phased_(variant.kind == CallKind::kPhased),
        denominator_(variant.denominator),
        unit_(CodeScaleOf(coding, variant).unit) {}

  uint64_t Code(StoredPair pair, bool haploid) const {
    if (coding_.model == GeneticModel::kAdditive) {
      return phased_ ? uint64_t{pair.a0} + pair.a1 : 2 * uint64_t{pair.a0} + pair.a1;
    }
    // P(at least one copy) and P(two copies) of the first allele, in units of 1/unit.
    uint64_t some = uint64_t{pair.a0} + pair.a1;
    uint64_t both = pair.a0;
    if (phased_) {
      both = haploid ? Scaled(pair.a0) : Product(pair.a0, pair.a1);
      some = Scaled(pair.a0) + Scaled(pair.a1) - both;
    }
    const bool dominant = coding_.model == GeneticModel::kDominant;
    if (!coding_.effect_is_second) return dominant ? some : both;
    return unit_ - std::min(unit_, dominant ? both : some);
  }

 private:
  uint64_t Scaled(uint64_t a) const { return Product(a, denominator_); }
  uint64_t Product(uint64_t a, uint64_t b) const {
    if (denominator_ <= kLargestExactDenominator) return a * b;
    const unsigned __int128 square = static_cast<unsigned __int128>(denominator_) * denominator_;
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    // a * b / D^2 rounded to 32 bits; 2^32 * 2^64 fits.
    return static_cast<uint64_t>((product * unit_ + square / 2) / square);
  }

  Coding coding_;
  bool phased_;
  uint64_t denominator_;
  uint64_t unit_;
};

// Calls `use(person, pair)` for everyone, from rows or carriers.
template <typename Use>
void ForEachPair(const VariantBlock& block, const DecodedVariant& variant, Use use) {
  const size_t n = block.num_people();
  if (variant.is_sparse) {
    const StoredPair base{variant.baseline & 255u, static_cast<uint32_t>(variant.baseline >> 8)};
    for (size_t p = 0; p < n; ++p) use(p, base);
    for (size_t i = 0; i < variant.carriers.size(); ++i) {
      const uint16_t pair = variant.carrier_pairs[i];
      use(variant.carriers[i], StoredPair{pair & 255u, static_cast<uint32_t>(pair >> 8)});
    }
    return;
  }
  const PairRows rows = block.rows(variant);
  for (size_t p = 0; p < n; ++p) {
    StoredPair pair;
    for (size_t k = 0; k < variant.num_planes; ++k) {
      pair.a0 |= uint32_t{rows.row(k)[2 * p]} << (8 * k);
      pair.a1 |= uint32_t{rows.row(k)[2 * p + 1]} << (8 * k);
    }
    use(p, pair);
  }
}

}  // namespace

bool NeedsRecoding(const Coding& coding, const DecodedVariant& variant) {
  return coding.model != GeneticModel::kAdditive || variant.kind == CallKind::kPhased;
}

CodeScale CodeScaleOf(const Coding& coding, const DecodedVariant& variant) {
  const uint64_t d = variant.denominator;
  if (coding.model == GeneticModel::kAdditive) return {d, 2 * d};
  if (!UsesProducts(coding, variant)) return {d, d};
  const uint64_t unit = d <= kLargestExactDenominator ? d * d : kRoundedUnit;
  return {unit, unit};
}

void FillCodes(const VariantBlock& block, const DecodedVariant& variant, const Coding& coding,
               std::span<uint64_t> codes) {
  const PersonCoder coder(coding, variant);
  const std::span<const uint32_t> haploid = variant.haploid;
  ForEachPair(block, variant, [&](size_t person, StoredPair pair) {
    const bool one_copy = std::binary_search(haploid.begin(), haploid.end(), person);
    codes[person] = coder.Code(pair, one_copy);
  });
  for (const uint32_t person : variant.missing) codes[person] = 0;
}

size_t PlanesOfCodes(uint64_t highest) {
  size_t planes = 1;
  for (uint64_t rest = (highest >> 1) >> 8; rest != 0; rest >>= 8) ++planes;
  return planes;
}

PairBound BoundOfCodes(uint64_t highest) {
  return highest <= 510 ? PairBound::kSumUpTo255 : PairBound::kAnyBytes;
}

void WriteCodeRows(std::span<const uint64_t> codes, size_t num_planes, size_t stride,
                   uint8_t* rows) {
  for (size_t k = 0; k < num_planes; ++k) {
    uint8_t* row = rows + k * stride;
    for (size_t p = 0; p < codes.size(); ++p) {
      row[2 * p] = static_cast<uint8_t>((codes[p] >> 1) >> (8 * k));
      row[2 * p + 1] = k == 0 ? static_cast<uint8_t>(codes[p] & 1) : 0;
    }
    std::memset(row + 2 * codes.size(), 0, stride - 2 * codes.size());
  }
}

}  // namespace tallele

#include "ancestry/allele_rules.h"

#include <algorithm>
#include <cctype>

namespace tallele {
namespace {

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool IsUnknown(const std::string& allele) {
  return allele.empty() || allele == "0" || allele == ".";
}

// The letter of the other strand; empty for anything but one of A, C, G and T.
std::string Complement(const std::string& allele) {
  if (allele == "A") return "T";
  if (allele == "T") return "A";
  if (allele == "C") return "G";
  if (allele == "G") return "C";
  return {};
}

// The counted allele is the cohort's known one, or the other one is.
AlleleMatch CompareOne(const std::string& counted, const std::string& other,
                       const std::string& known, bool known_is_first, bool palindromic) {
  AlleleMatch match{AlleleFit::kOneAllele, StripUse::kFirst, palindromic};
  const StripUse of_known = known_is_first ? StripUse::kFirst : StripUse::kSecond;
  const StripUse of_unknown = known_is_first ? StripUse::kSecond : StripUse::kFirst;
  const std::string flipped = palindromic ? std::string() : Complement(known);
  if (known == counted || (known != other && flipped == counted)) {
    match.use = of_known;
  } else if (known == other || flipped == other) {
    match.use = of_unknown;
  } else {
    match.fit = AlleleFit::kMismatch;
  }
  return match;
}

}  // namespace

AlleleMatch CompareAlleles(std::string_view counted_text, std::string_view other_text,
                           std::string_view first_text, std::string_view second_text) {
  const std::string counted = Upper(counted_text), other = Upper(other_text);
  const std::string first = Upper(first_text), second = Upper(second_text);
  if (IsUnknown(counted) || IsUnknown(other) || counted == other) return {};
  const bool palindromic = Complement(counted) == other;
  if (IsUnknown(first) != IsUnknown(second)) {
    const bool first_known = IsUnknown(second);
    return CompareOne(counted, other, first_known ? first : second, first_known, palindromic);
  }
  if (IsUnknown(first)) return {};
  if (first == counted && second == other) {
    return {AlleleFit::kExact, StripUse::kFirst, palindromic};
  }
  if (first == other && second == counted) {
    return {AlleleFit::kSwapped, StripUse::kSecond, palindromic};
  }
  const std::string flipped_first = Complement(first), flipped_second = Complement(second);
  if (palindromic || flipped_first.empty() || flipped_second.empty()) return {};
  if (flipped_first == counted && flipped_second == other) {
    return {AlleleFit::kFlipped, StripUse::kFirst, false};
  }
  if (flipped_first == other && flipped_second == counted) {
    return {AlleleFit::kFlippedSwapped, StripUse::kSecond, false};
  }
  return {};
}

std::string NormaliseChromosome(std::string_view name) {
  std::string out = Upper(name);
  if (out.starts_with("CHR")) out.erase(0, 3);
  if (out.size() > 1) out.erase(0, std::min(out.find_first_not_of('0'), out.size() - 1));
  if (out == "23") return "X";
  if (out == "24") return "Y";
  if (out == "25") return "XY";
  if (out == "26" || out == "M") return "MT";
  return out;
}

}  // namespace tallele

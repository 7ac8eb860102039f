#ifndef TALLELE_CONFIG_NEAREST_NAME_H_
#define TALLELE_CONFIG_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace tallele {

// The candidate with the smallest edit distance to `name` (letter case ignored), or empty
// when none is close enough to be what the user meant (more than 40 % of the letters differ).
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

// "Did you mean X?", or empty.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);

}  // namespace tallele

#endif  // TALLELE_CONFIG_NEAREST_NAME_H_

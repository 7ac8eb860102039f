#ifndef TALLELE_ASSOC_PERSON_SET_H_
#define TALLELE_ASSOC_PERSON_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tallele {

// A set of people on one axis, one bit each.
class PersonSet {
 public:
  PersonSet() = default;
  explicit PersonSet(size_t num_people) : words_((num_people + 63) / 64) {}

  void Add(size_t person) { words_[person / 64] |= uint64_t{1} << (person % 64); }
  bool Contains(size_t person) const { return words_[person / 64] >> (person % 64) & 1; }
  void AddAll(const PersonSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  size_t Count() const {
    size_t count = 0;
    for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }
  size_t CountOf(std::span<const uint32_t> people) const {
    size_t count = 0;
    for (const uint32_t person : people) count += Contains(person);
    return count;
  }
  bool operator==(const PersonSet&) const = default;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_PERSON_SET_H_

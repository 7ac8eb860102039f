#ifndef TALLELE_ASSOC_LIST_MEMBERSHIP_H_
#define TALLELE_ASSOC_LIST_MEMBERSHIP_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tallele {

// For each person of the block, the lists that they are in: one bit a list. Walking the few
// carriers or missing of a variant then costs nothing for the many who are in no list.
class ListMembership {
 public:
  ListMembership() = default;
  ListMembership(size_t num_people, size_t num_lists)
      : words_per_person_((num_lists + 63) / 64), words_(num_people * words_per_person_) {}

  void Add(size_t list, const std::vector<uint32_t>& people) {
    const uint64_t bit = uint64_t{1} << (list % 64);
    for (const uint32_t p : people) words_[p * words_per_person_ + list / 64] |= bit;
  }

  // Calls `use(list)` for each list that `person` is in.
  template <typename Use>
  void ForEachList(uint32_t person, Use use) const {
    const uint64_t* words = words_.data() + person * words_per_person_;
    for (size_t w = 0; w < words_per_person_; ++w) {
      for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
        use(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  size_t words_per_person_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_LIST_MEMBERSHIP_H_

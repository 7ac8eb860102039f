#ifndef TALLELE_BASE_TEXT_INDEX_H_
#define TALLELE_BASE_TEXT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tallele {

// Numbers by text, for hundreds of thousands of identifiers: the texts lie in one arena, so
// that an entry costs no allocation of its own. Texts are copied. Not thread-safe while it
// grows; `Find` from many threads at once is fine.
class TextIndex {
 public:
  void Reserve(size_t num_texts);

  // Notes `value` for a new text and returns nothing; for a text that is there already, returns
  // its value and changes nothing.
  std::optional<uint64_t> Insert(std::string_view text, uint64_t value);
  std::optional<uint64_t> Find(std::string_view text) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t hash;
    uint64_t value;
    size_t begin;  // in the arena
    size_t length;
  };

  // The slot that holds the text, or the empty one where it belongs. There must be slots.
  size_t SlotOf(std::string_view text, uint64_t hash) const;
  void Rehash(size_t num_slots);

  std::string arena_;
  std::vector<Entry> entries_;
  // Open addressing, a power of two that is at least twice the number of entries: 1 + the
  // entry's number, 0 for an empty slot.
  std::vector<uint32_t> slots_;
};

}  // namespace tallele

#endif  // TALLELE_BASE_TEXT_INDEX_H_

#include "base/text_index.h"

#include <bit>

#include "base/hashing.h"

namespace tallele {

void TextIndex::Reserve(size_t num_texts) {
  entries_.reserve(num_texts);
  if (slots_.size() < 2 * num_texts) Rehash(std::bit_ceil(2 * num_texts));
}

std::optional<uint64_t> TextIndex::Insert(std::string_view text, uint64_t value) {
  if (slots_.size() < 2 * (entries_.size() + 1)) {
    Rehash(slots_.empty() ? size_t{64} : 2 * slots_.size());
  }
  const uint64_t hash = HashBytes(text);
  const size_t slot = SlotOf(text, hash);
  if (slots_[slot] != 0) return entries_[slots_[slot] - 1].value;
  entries_.push_back({hash, value, arena_.size(), text.size()});
  arena_.append(text);
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return std::nullopt;
}

std::optional<uint64_t> TextIndex::Find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const size_t slot = SlotOf(text, HashBytes(text));
  if (slots_[slot] == 0) return std::nullopt;
  return entries_[slots_[slot] - 1].value;
}

size_t TextIndex::SlotOf(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && std::string_view(arena_).substr(entry.begin, entry.length) == text) {
      break;
    }
  }
  return slot;
}

void TextIndex::Rehash(size_t num_slots) {
  slots_.assign(num_slots, 0);
  const size_t mask = num_slots - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(i + 1);
  }
}

}  // namespace tallele

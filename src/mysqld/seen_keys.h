// SeenKeys: which values of an IN have had their turn.
//
// SQL's IN is a set: a value given twice finds its rows once. Owns a hash table
// and the keys' bytes, both used again for each request, so that a multi-get
// allocates nothing once warm. One a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hs::mysqld {

class SeenKeys {
 public:
  // Forgets everything; `expected` keys will come at the most.
  void clear(std::size_t expected) {
    std::size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    if (slots_.size() < capacity || ++epoch_ == 0) {
      slots_.assign(capacity, Slot{});
      epoch_ = 1;
    }
    bytes_.clear();
  }

  // True if `key` was not there yet.
  bool insert(std::string_view key) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = std::hash<std::string_view>{}(key)&mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.epoch != epoch_) {
        slot = {epoch_, static_cast<std::uint32_t>(key.size()), bytes_.size()};
        bytes_.insert(bytes_.end(), key.begin(), key.end());
        return true;
      }
      if (std::string_view(bytes_.data() + slot.begin, slot.size) == key) return false;
    }
  }

 private:
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t size = 0;
    std::size_t begin = 0;
  };

  std::uint32_t epoch_ = 0;
  std::vector<Slot> slots_;
  std::vector<char> bytes_;
};

}  // namespace hs::mysqld

// SeenKeys: which values of an IN have had their turn.
//
// SQL's IN is a set: a value given twice finds its rows once. Owns a hash table
// and the keys' bytes, both used again for each request, so that a multi-get
// allocates nothing once warm. One a worker.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace hs::mysqld {

class SeenKeys {
 public:
  SeenKeys() : multiplier_(random_odd()) {}

  // Forgets everything; `expected` keys will come at the most.
  void clear(std::size_t expected) {
    std::size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    if (slots_.size() < capacity || ++epoch_ == 0) {
      slots_.assign(capacity, Slot{});
      epoch_ = 1;
    }
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    bytes_.clear();
  }

  // True if `key` was not there yet.
  bool insert(std::string_view key) {
    if (key.size() <= sizeof(std::uint64_t)) [[likely]]
      return insert_short(key);
    const std::size_t hash = std::hash<std::string_view>{}(key);
    for (std::size_t i = place(hash);; i = following(i)) {
      Slot& slot = slots_[i];
      if (slot.epoch != epoch_) {
        slot = {epoch_, static_cast<std::uint32_t>(key.size()), bytes_.size()};
        bytes_.insert(bytes_.end(), key.begin(), key.end());
        return true;
      }
      if (slot.size == key.size() &&
          std::string_view(bytes_.data() + slot.word, slot.size) == key) {
        return false;
      }
    }
  }

 private:
  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t size = 0;
    std::uint64_t word = 0;  // a short key itself, or where in bytes_ a longer one begins
  };

  // Nobody outside can know which keys meet in one place.
  static std::uint64_t random_odd() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random() | 1;
  }

  // Integers: no call, and nothing to look up elsewhere.
  bool insert_short(std::string_view key) {
    std::uint64_t word = 0;
    if (key.size() == sizeof(std::uint32_t)) {
      std::memcpy(&word, key.data(), sizeof(std::uint32_t));
    } else {
      std::memcpy(&word, key.data(), key.size());
    }
    for (std::size_t i = place(word);; i = following(i)) {
      Slot& slot = slots_[i];
      if (slot.epoch != epoch_) {
        slot = {epoch_, static_cast<std::uint32_t>(key.size()), word};
        return true;
      }
      if (slot.word == word && slot.size == key.size()) return false;
    }
  }

  std::size_t place(std::uint64_t hash) const { return (hash * multiplier_) >> shift_; }
  std::size_t following(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  std::uint64_t multiplier_;
  unsigned shift_ = 0;  // leaves as many bits as slots_ has places
  std::uint32_t epoch_ = 0;
  std::vector<Slot> slots_;
  std::vector<char> bytes_;
};

}  // namespace hs::mysqld

// SeenKeys: the values of an IN that have been searched already.
//
// SQL's IN is a set: a value that is given twice finds its rows once. It owns a hash table and the
// keys' bytes. Both are used again for each request, so after the first requests a multi-get
// allocates nothing. give_back() frees the memory of an unusually large request. Both hashes are
// secret, so no choice of keys makes it slow. Each worker has one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "base/give_back.h"
#include "base/keyed_hash.h"

namespace hs {

class SeenKeys {
 public:
  SeenKeys() : multiplier_(random_odd()) {}

  // Forgets all keys. At most `expected` keys will be inserted.
  void clear(std::size_t expected) {
    std::size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    if (slots_.size() < capacity || ++epoch_ == 0) {
      slots_.assign(capacity, Slot{});
      epoch_ = 1;
    }
    hs::give_back(bytes_, max_kept_bytes);
    if (slots_.size() > max_kept_slots && capacity <= max_kept_slots) {
      slots_ = std::vector<Slot>(capacity);
      epoch_ = 1;
    }
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    bytes_.clear();
  }

  // The keys are not used any more.
  void give_back() {
    if (bytes_.capacity() > max_kept_bytes || slots_.size() > max_kept_slots) [[unlikely]]
      clear(0);
  }

  // True if `key` was not inserted before.
  bool insert(std::string_view key) {
    if (key.size() <= sizeof(std::uint64_t)) [[likely]]
      return insert_short(key);
    const std::uint64_t hash = hash_(key);
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
  static constexpr std::size_t max_kept_bytes = std::size_t{1} << 20;
  static constexpr std::size_t max_kept_slots = std::size_t{1} << 16;

  struct Slot {
    std::uint32_t epoch = 0;
    std::uint32_t size = 0;
    std::uint64_t word = 0;  // a short key itself, or the place in bytes_ where a longer key begins
  };

  // A secret factor: nobody outside can know which keys go to the same place.
  static std::uint64_t random_odd() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random() | 1;
  }

  // For integers: without a function call and without an access to bytes_.
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

  KeyedHash hash_;
  std::uint64_t multiplier_;
  unsigned shift_ = 0;  // leaves as many bits of a hash as are needed to number slots_
  std::uint32_t epoch_ = 0;
  std::vector<Slot> slots_;
  std::vector<char> bytes_;
};

}  // namespace hs

// LookAhead: the finds of one row that are known to come next.
//
// Whoever is about to make several finds lists them here, and gives the list to Store::expect(). It belongs
// to one thread. It owns the list and no key: the values are bytes of the requests. It is a hint for the store, and
// decides nothing: each find is read again and executed as always.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "store/operation.h"
#include "store/store.h"

namespace hs::store {

class LookAhead {
 public:
  // So many fetches of memory run at the same time. A CPU has no room for many more, and what comes
  // first would be pushed out of its cache again.
  static constexpr std::size_t most_lookups = 16;
  static constexpr std::size_t most_parts = 4;  // of a key

  bool is_full() const { return count_ == most_lookups; }
  std::span<const Lookup> lookups() const { return {lookups_.data(), count_}; }

  // Memory for the values of the next one's key, which add() takes. Not if it is full.
  std::span<Value, most_parts> next_key() {
    assert(!is_full());
    return std::span(values_).subspan(count_ * most_parts).first<most_parts>();
  }
  void add(const Index& index, std::size_t parts) {
    assert(parts != 0 && parts <= most_parts);
    lookups_[count_] = {&index, next_key().first(parts)};
    ++count_;
  }
  void clear() { count_ = 0; }

 private:
  std::array<Value, most_lookups * most_parts> values_;
  std::array<Lookup, most_lookups> lookups_;
  std::size_t count_ = 0;
};

}  // namespace hs::store

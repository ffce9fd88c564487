// LookAhead: the finds of one row that come next in a pass.
//
// A pass has one, on its worker's thread, and fills it only where the settings ask for it. Dialogues
// name the finds at the front of their input, across the turns of the pass, before they execute
// them. It owns the lists and no key: the values are bytes of the pass's input. It is a hint for the
// store, and decides nothing: each find is read again and executed as always.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "store/operation.h"
#include "store/store.h"

namespace hs::passes {

class LookAhead {
 public:
  // So many fetches of memory run at the same time. A CPU has no room for many more, and what comes
  // first would be pushed out of its cache again.
  static constexpr std::size_t most_lookups = 16;
  static constexpr std::size_t most_parts = 4;  // of a key

  bool is_full() const { return count_ == most_lookups; }
  std::span<const store::Lookup> lookups() const { return {lookups_.data(), count_}; }

  // Memory for the values of the next one's key, which add() takes. Not if it is full.
  std::span<store::Value, most_parts> next_key() {
    assert(!is_full());
    return std::span(values_).subspan(count_ * most_parts).first<most_parts>();
  }
  void add(const store::Index& index, std::size_t parts) {
    assert(parts != 0 && parts <= most_parts);
    lookups_[count_] = {&index, next_key().first(parts)};
    ++count_;
  }

  // What lies before this place of this turn has been looked at.
  void reach(std::size_t turn, std::size_t offset) {
    turn_ = turn;
    offset_ = offset;
  }
  bool has_reached_behind(std::size_t turn, std::size_t offset) const {
    return turn < turn_ || (turn == turn_ && offset < offset_);
  }
  void clear() { count_ = 0; }
  // Another pass begins, or the same once more.
  void begin() {
    clear();
    reach(0, 0);
  }

 private:
  std::array<store::Value, most_lookups * most_parts> values_;
  std::array<store::Lookup, most_lookups> lookups_;
  std::size_t count_ = 0;
  std::size_t turn_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace hs::passes

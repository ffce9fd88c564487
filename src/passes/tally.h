// Tally: what a thread has counted while it executes something, and has not told its counters yet.
//
// It is kept apart, so that nothing is counted twice if a pass is executed again. A value: a copy of
// it is the counts at some moment, to which a pass can go back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/counters.h"
#include "net/application.h"

namespace hs::passes {

class Tally {
 public:
  void clear() {
    counts_.fill(0);
    notes = 0;
  }
  void add(Counter counter, std::uint32_t count = 1) {
    counts_[static_cast<std::size_t>(counter)] += count;
  }
  // A request of the turn has been answered, and is not consumed yet.
  void add_answered(net::Turn& turn, Counter counter) {
    add(counter);
    count_request(turn.answered, counter);
    if (turn.blocked_since != 0) [[unlikely]]
      add_wait(turn, counter);
  }
  void publish(CounterBlock& counters) const;

  // How many of the protocol's notes are valid: see Protocol::publish().
  std::uint32_t notes = 0;

 private:
  void add_wait(const net::Turn& turn, Counter counter);

  std::array<std::uint32_t, counter_count> counts_{};
};

}  // namespace hs::passes

#include "passes/tally.h"

#include <chrono>

#include "passes/waiting.h"

namespace hs::passes {

void Tally::add_wait(const net::Turn& turn, Counter counter) {
  if (counter == Counter::requests_log_in) return;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(time_blocked(turn));
  add(Counter::lock_wait_ms, static_cast<std::uint32_t>(waited.count()));
}

void Tally::publish(CounterBlock& counters) const {
  for (std::size_t i = 0; i < counter_count; ++i) {
    if (counts_[i] != 0) counters.add(static_cast<Counter>(i), counts_[i]);
  }
}

}  // namespace hs::passes

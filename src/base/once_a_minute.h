// OnceAMinute: keeps a line that many threads may want to log to one a minute.
//
// It owns the time of the last line. Any thread may ask. It never logs by itself.
#pragma once

#include <atomic>
#include <cstdint>

namespace hs {

class OnceAMinute {
 public:
  // Whether it is time for the line. Then it counts as logged. `now` is a time of the monotonic
  // clock in ns, and never 0.
  bool is_due(std::uint64_t now) {
    constexpr std::uint64_t minute = 60'000'000'000;
    std::uint64_t last = last_.load(std::memory_order_relaxed);
    const bool due = last == 0 || now >= last + minute;
    return due && last_.compare_exchange_strong(last, now, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> last_{0};  // 0: there was none
};

}  // namespace hs
